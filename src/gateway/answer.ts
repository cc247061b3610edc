import type { Exchange } from './exchange.js';
import { closedHeaders, rateHeaders, retryAfterS } from './admission/headers.js';
import type { Refusal } from './refusal.js';

/** `Retry-After` in seconds when no verdict can be had. */
const CLOSED_RETRY_S = 1;

/** What every answer carries, flat: rates (`ownRates`, or the verdict's), request id, the operation's headers, CORS. */
export function commonHeaders(exchange: Exchange, ownRates?: readonly string[]): string[] {
  const { verdict, decidedMs, headers, cors } = exchange.logEntry;
  const rates =
    ownRates !== undefined
      ? [...ownRates]
      : verdict === null
        ? closedHeaders(Date.now(), CLOSED_RETRY_S)
        : rateHeaders(verdict, performance.now() - decidedMs);
  rates.push('X-Request-Id', exchange.id);
  if (headers.length > 0) rates.push(...headers);
  if (cors !== null) rates.push(...cors);
  return rates;
}

/** The fields and body of a refusal; also for answers written past Node's HTTP server. */
export function renderRefusal(exchange: Exchange, refusal: Refusal): { headers: string[]; body: string } {
  const headers = commonHeaders(exchange, refusal.rates);
  headers.push('Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(refusal.body)));
  const { verdict, decidedMs } = exchange.logEntry;
  const limited =
    refusal.status === 429 && refusal.rates === undefined && verdict !== null
      ? retryAfterS(verdict, performance.now() - decidedMs)
      : null;
  const waitS = limited ?? refusal.retryAfterS;
  if (waitS !== null) headers.push('Retry-After', String(waitS));
  headers.push(...refusal.headers);
  if (refusal.closes) headers.push('Connection', 'close');
  return { headers, body: refusal.body };
}

/** The one renderer of refusals. After an answer has started it cuts: an orderly end would pass for a whole answer. */
export function refuse(exchange: Exchange, refusal: Refusal): void {
  exchange.logEntry.refusal = refusal;
  if (exchange.client.started) {
    exchange.client.abort();
    return;
  }
  const { headers, body } = renderRefusal(exchange, refusal);
  exchange.client.send(refusal.status, headers, body);
}
