/** A request target in normal form: `path` as it is routed and forwarded, `query` with its `?` or empty. */
interface Target {
  readonly path: string;
  readonly query: string;
}

/** What a target may not hold raw: anything but visible ASCII, and what other servers read as something else. */
const ODD = /[^\x21-\x7e]|[#\\"<>^`{|}]/;
/** What browsers leave raw (WHATWG URL, path and query states) is escaped here. */
const RAW_IN_PATH = /[\^|]/g;
const RAW_IN_QUERY = /[\\^`{|}]/g;
/** An escaped control character: the end of a text or of a line for whoever decodes it. */
const ESCAPED_CONTROL = /%(?:[01][0-9A-Fa-f]|7[Ff])/;
const LONE_PERCENT = /%(?![0-9A-Fa-f]{2})/;
const PERCENT = /%(..?)?/g;
const UNRESERVED = /[A-Za-z0-9\-._~]/;
/** Host and port, without userinfo (RFC 9110 §4.2.4 asks to distrust it); the value of Host too. */
export const AUTHORITY = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;
const ABSOLUTE = /^https?:\/\/([^/?]*)(.*)$/is;

/**
 * Normal form of a target (RFC 3986 §6.2.2), so that what is routed is what is forwarded. `*` stays for OPTIONS. Of the
 * absolute form (RFC 9112 §3.2.2) only path and query count: its authority stands for Host.
 * @returns null when it is another form (authority) or scheme, or not valid
 */
export function parseTarget(target: string, method: string): Target | null {
  if (target === '*' && method === 'OPTIONS') return { path: '*', query: '' };
  if (ESCAPED_CONTROL.test(target)) return null;
  if (target.charCodeAt(0) === 47 /* slash */) return parseOrigin(target);
  const [, authority = '', rest = ''] = ABSOLUTE.exec(target) ?? [];
  if (!AUTHORITY.test(authority)) return null;
  // OPTIONS of a bare authority asks about the server as a whole (RFC 9112 §3.2.4).
  if (rest === '' && method === 'OPTIONS') return { path: '*', query: '' };
  return parseOrigin(rest.startsWith('/') ? rest : `/${rest}`);
}

/** What a message says of the first character of a target that is refused; null where none is. */
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

/** Without escapes that need not be, and those in capitals; null when one escapes nothing. */
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
