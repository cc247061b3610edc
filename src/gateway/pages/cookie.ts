interface CookieForm {
  readonly name: string;
  /** Path of the pages: the browser sends the cookie nowhere else. */
  readonly path: string;
  /** Whether the browser uses TLS, to the gateway itself or to a proxy in front. */
  readonly secure: boolean;
}

/** Adds `__Secure-` over TLS: browsers reject such a cookie from pages without TLS, or from anyone in between. */
function cookieName({ name, secure }: Pick<CookieForm, 'name' | 'secure'>): string {
  return secure ? `__Secure-${name}` : name;
}

/** Returns the value of Set-Cookie; an empty `value` deletes the cookie. */
export function setCookie(form: CookieForm, value: string): string {
  const { path, secure } = form;
  const ends = value === '' ? '; Max-Age=0' : '';
  return `${cookieName(form)}=${value}; Path=${path}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}${ends}`;
}

/**
 * Returns all values of the cookie in `fields` of Cookie. Other software on the same host may have set a cookie with
 * this name; the caller uses the one that is a valid session.
 */
export function cookiesIn(fields: readonly string[], form: Pick<CookieForm, 'name' | 'secure'>): readonly string[] {
  const name = cookieName(form);
  return fields
    .flatMap((field) => field.split(';'))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}
