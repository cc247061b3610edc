/** Only from here, nothing within the page itself, and no page of others around it. */
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

/** Of every page: it shows what is so now, to one person. */
export const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Request ids stand in addresses. Not `no-referrer`: then a browser would not say where a form came from.
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
} as const;
