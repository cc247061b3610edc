/** Never forwarded: TRACE shows what a proxy adds, and CONNECT asks for a tunnel to another host. */
const NEVER: ReadonlySet<string> = new Set(['CONNECT', 'TRACE']);
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;

/** Whether a request may have this method (RFC 9110 §9.1). */
export function isMethod(name: string): boolean {
  return TOKEN.test(name) && !NEVER.has(name);
}
