/**
 * Whether a form was sent by a page of this very origin. Browsers name it with every POST; a page that sends its forms
 * with `Referrer-Policy: no-referrer` says `null`, so ours say `same-origin`.
 * @param origin the field Origin; null where there is none, or two
 * @param host the field Host
 */
export function isOwnOrigin(origin: string | null, host: string | null, secure: boolean): boolean {
  if (origin === null || host === null || host === '') return false;
  return origin.toLowerCase() === `${secure ? 'https' : 'http'}://${host.toLowerCase()}`;
}
