import { readsAuthorization, type CredentialLocation, type CredentialLocations } from '../credentials.js';
import { takeCredential, type Exchange } from '../exchange.js';
import { fieldKey, lowerName, remembered } from './fields.js';
import { withoutCredential } from './trace.js';

/** What a request has where keys are read. What came twice is empty, as of Authorization: two credentials are none. */
interface Presented {
  readonly authorization: string | null;
  readonly fields: Map<string, string>;
  readonly parameters: Map<string, string>;
}
/** The key as a bearer token; empty where it can't be one; null where nothing was sent there. */
type Read = (presented: Presented) => string | null;

const BEARER = /^bearer(?: |$)/i;
const BASIC = /^basic(?: +([A-Za-z0-9+/_-]+=*) *$| |$)/i;

/** Takes off a request what is a credential, or could be; null where keys are bearer tokens alone. */
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
      // The page may have been asked for with a key.
      else headers.push(name, names.size > 0 && lowerName(name) === 'referer' ? withoutKeys(value, names) : value);
    }
    let key: string | null = null;
    for (let index = 0; index < reads.length && key === null; index += 1) key = reads[index]!(presented);
    // What was said in another way says only what is wrong with it, and Bearer must not pass for a key.
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
  // Whatever has a scheme is no key as it stands.
  if (readsAuthorization(location))
    return ({ authorization }) => (authorization?.includes(' ') === true ? null : asBearer(authorization ?? undefined));
  const name = fieldKey(location.header);
  return ({ fields }) => asBearer(fields.get(name));
}

/** The key behind this scheme, in any case, after one or more spaces (RFC 9110 §11.4). */
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

/** RFC 7617 §2: what stands before the first colon is the user name. */
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

/** The same for all names that servers read as one parameter: of any case, `a.b` and `a b` as `a_b`, `a[]` as `a`. */
function parameterKey(name: string): string {
  const [own = ''] = decoded(name).trim().split('[', 1);
  return own.replace(/[ .]/g, '_').toLowerCase();
}

function decoded(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replace(/%(?:u00)?([0-9a-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** The query without these parameters, whose values are noted; the rest of it stays as it was sent. */
function takeParameters(query: string, names: ReadonlySet<string>, values: Map<string, string>): string {
  if (query === '') return '';
  const kept: string[] = [];
  for (const piece of query.slice(1).split('&')) {
    // Some servers part parameters at `;` too. A key may contain one: nothing behind it is kept either.
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
