/** A cookie of pages: where it is good, and whether the way to them is private. */
interface CookieForm {
  readonly name: string;
  /** Of the pages: the browser sends it nowhere else. */
  readonly path: string;
  /** TLS, by the gateway itself or by a proxy in front. */
  readonly secure: boolean;
}

/** Over TLS no plain page, and nobody in between, can set one of that name. */
function cookieName({ name, secure }: Pick<CookieForm, 'name' | 'secure'>): string {
  return secure ? `__Secure-${name}` : name;
}

/** The value of Set-Cookie; an empty `value` takes the cookie away. */
export function setCookie(form: CookieForm, value: string): string {
  const { path, secure } = form;
  const ends = value === '' ? '; Max-Age=0' : '';
  return `${cookieName(form)}=${value}; Path=${path}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}${ends}`;
}

/**
 * The values of the cookie in `fields` of Cookie. Others of its name may have been set by whatever shares the host: the
 * one that opens a session counts.
 */
export function cookiesIn(fields: readonly string[], form: Pick<CookieForm, 'name' | 'secure'>): readonly string[] {
  const name = cookieName(form);
  return fields
    .flatMap((field) => field.split(';'))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}
