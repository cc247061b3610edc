import {
  readsAuthorization,
  type CredentialLocation,
  type CredentialLocations,
} from '../refusals/credential-location.js';
import { takeCredential, type Exchange } from '../exchange.js';
import { fieldKey, lowerName, remembered } from './fields.js';
import { withoutCredential } from './trace.js';

/** What a request has where keys are read. A repeated field counts as empty, as with Authorization. */
interface Presented {
  readonly authorization: string | null;
  readonly fields: Map<string, string>;
  readonly parameters: Map<string, string>;
}
/** The key as a bearer token; empty if it cannot be one; null if nothing was sent. */
type Read = (presented: Presented) => string | null;

const BEARER = /^bearer(?: |$)/i;
const BASIC = /^basic(?: +([A-Za-z0-9+/_-]+=*) *$| |$)/i;

/** Removes everything that is or may be a credential; null if keys are only bearer tokens. */
export function credentialTaker(locations: CredentialLocations): ((exchange: Exchange) => Exchange) | null {
  if (locations.every((location) => location === 'bearer')) return null;
  const reads = locations.map(reader);
  const readsIt = locations.some(readsAuthorization);
  const fields = new Set(
    locations.flatMap((each) => (each !== 'bearer' && 'header' in each ? fieldKey(each.header) : [])),
  );
  const names = new Set(
    locations.flatMap((each) => (each !== 'bearer' && 'query' in each ? parameterKey(each.query) : [])),
  );
  const watchedAs = remembered((name) => (fields.has(fieldKey(name)) ? fieldKey(name) : null));

  return (exchange) => {
    const { authorization } = exchange;
    const presented: Presented = { authorization, fields: new Map(), parameters: new Map() };
    const query = names.size === 0 ? exchange.query : takeParameters(exchange.query, names, presented.parameters);
    const headers: string[] = [];
    for (let index = 0; index < exchange.headers.length; index += 2) {
      const [name, value] = [exchange.headers[index]!, exchange.headers[index + 1]!];
      const key = watchedAs(name);
      if (key !== null) note(presented.fields, key, value);
      // The page may have been requested with a key.
      else headers.push(name, names.size > 0 && lowerName(name) === 'referer' ? withoutKeys(value, names) : value);
    }
    let key: string | null = null;
    for (let index = 0; index < reads.length && key === null; index += 1) key = reads[index]!(presented);
    // Another scheme only shows what is wrong, and Bearer must not pass for a key.
    if (key === null && readsIt && authorization !== null)
      key = BEARER.test(authorization) ? `Not-${authorization}` : authorization;
    const clientAuthorization = readsIt ? null : authorization;
    const id = withoutCredential(exchange.id, key);
    return takeCredential(exchange, { id, authorization: key, clientAuthorization, headers, query });
  };
}

function reader(location: CredentialLocation): Read {
  if (location === 'bearer')
    return ({ authorization }) => (authorization === '' || BEARER.test(authorization ?? '') ? authorization : null);
  if ('basic' in location) return ({ authorization }) => basicKey(authorization, location.basic);
  if ('scheme' in location) return schemeReader(location.scheme);
  if ('query' in location) {
    const name = parameterKey(location.query);
    return ({ parameters }) => asBearer(parameters.get(name));
  }
  // A value with a scheme is not a bare key.
  if (readsAuthorization(location))
    return ({ authorization }) => (authorization?.includes(' ') === true ? null : asBearer(authorization ?? undefined));
  const name = fieldKey(location.header);
  return ({ fields }) => asBearer(fields.get(name));
}

/** The key after this scheme (case-insensitive) and one or more spaces (RFC 9110 §11.4). */
function schemeReader(scheme: string): Read {
  const before = `${scheme.toLowerCase()} `;
  return ({ authorization }) => {
    if (authorization === '') return '';
    if (authorization?.slice(0, before.length).toLowerCase() !== before) return null;
    return asBearer(authorization.slice(before.length).replace(/^ +/, ''));
  };
}

function asBearer(key: string | undefined): string | null {
  if (key === undefined) return null;
  return key === '' ? '' : `Bearer ${key}`;
}

/** RFC 7617 §2: the user name ends at the first colon. */
function basicKey(authorization: string | null, part: 'username' | 'password'): string | null {
  if (authorization === '') return '';
  const match = BASIC.exec(authorization ?? '');
  if (match === null) return null;
  const login = Buffer.from(match[1] ?? '', 'base64').toString('latin1');
  const colon = login.indexOf(':');
  if (colon === -1) return '';
  return asBearer(part === 'username' ? login.slice(0, colon) : login.slice(colon + 1));
}

function note(values: Map<string, string>, key: string, value: string): void {
  values.set(key, values.has(key) ? '' : value);
}

/** Returns one key for all names that servers may treat alike: in any case, `a.b` and `a b` as `a_b`, `a[]` as `a`. */
function parameterKey(name: string): string {
  const [own = ''] = decoded(name).trim().split('[', 1);
  return own.replace(/[ .]/g, '_').toLowerCase();
}

function decoded(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replace(/%(?:u00)?([0-9a-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** The query without these parameters, whose values are collected; the remainder is unchanged. */
function takeParameters(query: string, names: ReadonlySet<string>, values: Map<string, string>): string {
  if (query === '') return '';
  const kept: string[] = [];
  for (const piece of query.slice(1).split('&')) {
    // Some servers also separate parameters at `;`. A key may contain one: drop what follows it as well.
    const parts = piece.split(';');
    const at = parts.findIndex((part) => names.has(parameterKey(part.split('=', 1)[0]!)));
    if (at !== 0) kept.push(at === -1 ? piece : parts.slice(0, at).join(';'));
    if (at === -1) continue;
    const [name = ''] = parts[at]!.split('=', 1);
    const value = parts
      .slice(at)
      .join(';')
      .slice(name.length + 1);
    note(values, parameterKey(name), decoded(value));
  }
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

function withoutKeys(address: string, names: ReadonlySet<string>): string {
  const mark = address.indexOf('?');
  return mark === -1 ? address : address.slice(0, mark) + takeParameters(address.slice(mark), names, new Map());
}
