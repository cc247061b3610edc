/** Allows only files of this origin, nothing inline, and no embedding in pages of other sites. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** Headers of every page. Pages show current data to one person, so they are never stored. */
export const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // URLs contain request IDs. Not `no-referrer`: browsers would then send forms with `Origin: null`.
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
} as const;
