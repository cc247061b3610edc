/**
 * Returns whether a form was sent by a page of this origin. Browsers send Origin with every POST, but `null` from a
 * page with `Referrer-Policy: no-referrer`; therefore our pages use `same-origin`.
 * @param origin the Origin field; null if there is none, or more than one
 * @param host the Host field
 */
export function isOwnOrigin(origin: string | null, host: string | null, secure: boolean): boolean {
  if (origin === null || host === null || host === '') return false;
  return origin.toLowerCase() === `${secure ? 'https' : 'http'}://${host.toLowerCase()}`;
}
