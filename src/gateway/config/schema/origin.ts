import { isIP } from 'node:net';

/** Captures scheme, `*.` of a pattern, host, port. */
const FORM = /^([a-z][a-z0-9+.-]*):\/\/(\*\.)?([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$/;

const ANYBODY = "every origin is written as origins: '*', without a list";
const SANDBOX =
  "null is the origin of every sandboxed page, so it identifies none; name origins, or write origins: '*'";
const ODD_FORM =
  'must be an origin as browsers send it, such as https://app.example.com or http://localhost:5173: lower case, ' +
  'without a path or a trailing slash; or a pattern such as https://*.example.com';
const OTHERWISE =
  'browsers write this origin differently, so it would never match: leave out the port when it is 80 for http ' +
  'or 443 for https, and write addresses in their usual form';
const TOO_WIDE = 'a pattern needs a name of at least two parts behind *., such as https://*.example.com';

/**
 * Returns what is wrong with an origin (RFC 6454 §6.2) that pages may come from, or with a pattern of origins; null if
 * nothing is. Origins are compared character by character, so one that no browser would send is a mistake.
 */
export function originFault(given: string): string | null {
  if (given === '*') return ANYBODY;
  if (given === 'null') return SANDBOX;
  const [, scheme, wildcard, host = '', port = ''] = FORM.exec(given) ?? [];
  if (scheme === undefined) return ODD_FORM;
  if (wildcard !== undefined && (isIP(host) !== 0 || !/^[^.]+(?:\.[^.]+)+$/.test(host))) return TOO_WIDE;
  // Other schemes belong to apps and extensions; only these know how they write theirs.
  if (scheme !== 'http' && scheme !== 'https') return null;
  const plain = `${scheme}://${wildcard === undefined ? '' : 'any.'}${host}${port}`;
  return URL.canParse(plain) && new URL(plain).origin === plain ? null : OTHERWISE;
}
