/** A request target in normal form: `path` as it is routed and forwarded, `query` with its `?` or empty. */
interface Target {
  readonly path: string;
  readonly query: string;
}

/** Everything a target may hold: visible ASCII without the bytes that other servers read as something else. */
const ODD = /[^\x21-\x7e]|[#\\"<>^`{|}]/;
/** An escaped control character: the end of a text or of a line for whoever decodes it. */
const ESCAPED_CONTROL = /%(?:[01][0-9A-Fa-f]|7[Ff])/;
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
  if (ODD.test(target) || ESCAPED_CONTROL.test(target)) return null;
  if (target.charCodeAt(0) === 47 /* slash */) return parseOrigin(target);
  const [, authority = '', rest = ''] = ABSOLUTE.exec(target) ?? [];
  if (!AUTHORITY.test(authority)) return null;
  // OPTIONS of a bare authority asks about the server as a whole (RFC 9112 §3.2.4).
  if (rest === '' && method === 'OPTIONS') return { path: '*', query: '' };
  return parseOrigin(rest.startsWith('/') ? rest : `/${rest}`);
}

function parseOrigin(target: string): Target | null {
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
