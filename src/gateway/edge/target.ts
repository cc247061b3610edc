/** A request target in normal form: `path` as routed and forwarded, `query` with its `?`, or empty. */
interface Target {
  readonly path: string;
  readonly query: string;
}

/** Not allowed unescaped: anything but visible ASCII, and what other servers read differently. */
const ODD = /[^\x21-\x7e]|[#\\"<>^`{|}]/;
/** Browsers leave these unescaped (WHATWG URL, path and query states); escaped here. */
const RAW_IN_PATH = /[\^|]/g;
const RAW_IN_QUERY = /[\\^`{|}]/g;
/** An escaped control character: once decoded, it ends a string or a line. */
const ESCAPED_CONTROL = /%(?:[01][0-9A-Fa-f]|7[Ff])/;
const LONE_PERCENT = /%(?![0-9A-Fa-f]{2})/;
const PERCENT = /%(..?)?/g;
const UNRESERVED = /[A-Za-z0-9\-._~]/;
/** Host and port, without userinfo (to be distrusted, RFC 9110 §4.2.4); also the value of Host. */
export const AUTHORITY = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;
const ABSOLUTE = /^https?:\/\/([^/?]*)(.*)$/is;

/**
 * Returns the normal form of a target (RFC 3986 §6.2.2), so that the routed path is the forwarded one. `*` stays for
 * OPTIONS. Only path and query of the absolute form (RFC 9112 §3.2.2) are used: its authority is the Host.
 * @returns null for the authority form, another scheme, or an invalid target
 */
export function parseTarget(target: string, method: string): Target | null {
  if (target === '*' && method === 'OPTIONS') return { path: '*', query: '' };
  if (ESCAPED_CONTROL.test(target)) return null;
  if (target.charCodeAt(0) === 47 /* slash */) return parseOrigin(target);
  const [, authority = '', rest = ''] = ABSOLUTE.exec(target) ?? [];
  if (!AUTHORITY.test(authority)) return null;
  // OPTIONS with only an authority is about the whole server (RFC 9112 §3.2.4).
  if (rest === '' && method === 'OPTIONS') return { path: '*', query: '' };
  return parseOrigin(rest.startsWith('/') ? rest : `/${rest}`);
}

/** How a message names the first invalid character of a target; null if there is none. */
export function refusedCharacter(target: string): string | null {
  const control = ESCAPED_CONTROL.exec(target)?.[0];
  if (control !== undefined) return `The request target contains ${control}, a control character. Remove it.`;
  const odd = (ODD.exec(withRawEscaped(target)) ?? LONE_PERCENT.exec(target.split('?', 1)[0]!))?.[0];
  if (odd === undefined) return null;
  const shown = /[\x21-\x7e]/.test(odd) ? `"${odd}"` : 'a character that is not visible ASCII';
  return `The request target contains ${shown} unescaped. Send it as ${escaped(odd)}.`;
}

function withRawEscaped(target: string): string {
  const mark = target.indexOf('?');
  const end = mark === -1 ? target.length : mark;
  return target.slice(0, end).replace(RAW_IN_PATH, escaped) + target.slice(end).replace(RAW_IN_QUERY, escaped);
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

function parseOrigin(given: string): Target | null {
  const isPlain = !ODD.test(given);
  const target = isPlain ? given : withRawEscaped(given);
  if (!isPlain && ODD.test(target)) return null;
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? '' : target.slice(mark);
  if (!path.includes('%') && !path.includes('/.')) return { path, query };
  const decoded = normalPath(path);
  return decoded === null ? null : { path: removeDotSegments(decoded), query };
}

/** Drops unneeded escapes and writes the others in capitals; null if one is malformed. */
export function normalPath(path: string): string | null {
  const broken: string[] = [];
  const decoded = path.replace(PERCENT, (escape) => {
    const code = /^%[0-9A-Fa-f]{2}$/.test(escape) ? Number.parseInt(escape.slice(1), 16) : -1;
    if (code === -1) broken.push(escape);
    const character = String.fromCharCode(Math.max(code, 0));
    return UNRESERVED.test(character) ? character : escape.toUpperCase();
  });
  return broken.length === 0 ? decoded : null;
}

function removeDotSegments(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  segments.forEach((segment, index) => {
    if (segment === '..') kept.pop();
    if (segment !== '.' && segment !== '..') kept.push(segment);
    else if (index === segments.length - 1) kept.push('');
  });
  return `/${kept.join('/')}`;
}
