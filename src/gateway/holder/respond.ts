import type { StandingVerdict } from '../admission/verdict.js';
import { commonHeaders } from '../answer.js';
import type { Exchange } from '../exchange.js';
import { PAGE_HEADERS } from '../pages/headers.js';
import type { PageFile } from '../pages/files.js';

/** Flat: `[name, value, …]`. */
export const PAGE_FIELDS: readonly string[] = Object.entries(PAGE_HEADERS).flat();

/** Makes the response headers show the limits of this key or address. */
export function settle({ logEntry }: Exchange, verdict: StandingVerdict): void {
  logEntry.verdict = verdict;
  logEntry.decidedMs = performance.now();
}

/** Sends a page. Like the functions below, returns null: no refusal. */
export function sendPage(exchange: Exchange, page: string, cookie: string | null = null): null {
  send(exchange, 200, [...PAGE_FIELDS, ...cookieField(cookie)], page);
  return null;
}

export function sendFile(exchange: Exchange, { headers, body }: PageFile): null {
  send(exchange, 200, Object.entries(headers).flat(), body);
  return null;
}

/** Redirects to the page with the current state: reloading that page does not send the form again. */
export function leadTo(exchange: Exchange, path: string, cookie: string | null): null {
  send(exchange, 303, ['Location', path, 'Cache-Control', 'no-store', ...cookieField(cookie)], '');
  return null;
}

function send(exchange: Exchange, status: number, fields: readonly string[], body: string): void {
  noCors(exchange);
  const headers = [...commonHeaders(exchange), ...fields, 'Content-Length', String(Buffer.byteLength(body))];
  exchange.client.send(status, headers, body);
}

/** Removes CORS fields: no page of another origin may read these responses, even if it may read the API's. */
export function noCors({ logEntry }: Exchange): void {
  logEntry.cors = null;
}

function cookieField(cookie: string | null): readonly string[] {
  return cookie === null ? [] : ['Set-Cookie', cookie];
}
