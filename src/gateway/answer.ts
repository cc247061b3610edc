import type { Exchange } from './exchange.js';
import { closedHeaders, rateHeaders, retryAfterS } from './admission/headers.js';
import { addVary, lowerName } from './edge/fields.js';
import { problemOf, xmlOf, type Refusal } from './refusal.js';

/** `Retry-After` in seconds if there is no verdict. */
const CLOSED_RETRY_S = 1;

/** The format of error responses. */
export interface ErrorForm {
  /** `problem`: always RFC 9457 problems. With the others, only clients whose Accept names that type get one. */
  readonly form: 'petgate' | 'problem' | 'nested' | 'xml';
  /** Path of the page that explains the errors. */
  readonly docs: string;
  /** For requests from browsers; null if there are no such pages. */
  readonly page?: RefusalPage | null;
}

/** Renders the refusal as a page, with its header fields (flat); null if the client did not ask for a page. */
export type RefusalPage = (
  exchange: Exchange,
  refusal: Refusal,
) => { readonly headers: readonly string[]; readonly body: string } | null;

const ACCEPT = 'accept';
const PROBLEM = 'application/problem+json';
const ACCEPTS_PROBLEM = /(?:^|,)\s*application\/problem\+json\s*(?:,|$|;(?!\s*q=0(?:\.0*)?\s*(?:[,;]|$)))/i;

/** Returns the headers of every response, flat: rates (`ownRates` or the verdict's), request ID, operation, CORS. */
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

/** Returns the header fields (flat) and body of a refusal; also for responses that bypass Node's HTTP server. */
export function renderRefusal(
  exchange: Exchange,
  refusal: Refusal,
  form: ErrorForm,
): { headers: string[]; body: string } {
  const page = form.page?.(exchange, refusal) ?? null;
  const headers = commonHeaders(exchange, refusal.rates);
  if (page !== null) headers.push(...page.headers);
  const body = page?.body ?? bodyOf(exchange, refusal, form, headers);
  headers.push('Content-Length', String(Buffer.byteLength(body)));
  const { verdict, decidedMs } = exchange.logEntry;
  const limited =
    refusal.status === 429 && refusal.rates === undefined && verdict !== null
      ? retryAfterS(verdict, performance.now() - decidedMs)
      : null;
  const waitS = limited ?? refusal.retryAfterS;
  if (waitS !== null) headers.push('Retry-After', String(waitS));
  headers.push(...refusal.headers);
  if (refusal.closes) headers.push('Connection', 'close');
  return { headers, body };
}

/** Returns the body for clients that get no page. Adds Content-Type to `headers`, and Vary if Accept decides. */
function bodyOf(exchange: Exchange, refusal: Refusal, { form, docs }: ErrorForm, headers: string[]): string {
  const asProblem = form === 'problem' || acceptsProblem(exchange.headers);
  if (asProblem && form !== 'problem') addVary(headers, 'Accept');
  headers.push('Content-Type', asProblem ? PROBLEM : form === 'xml' ? 'application/xml' : 'application/json');
  if (asProblem) return problemOf(refusal, docs, exchange.id);
  if (form === 'xml') return xmlOf(refusal, exchange.id);
  return form === 'nested' ? refusal.nested : refusal.body;
}

/** Whether Accept names `application/problem+json`. */
function acceptsProblem(headers: readonly string[]): boolean {
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index]!;
    // Most names differ in length, which is faster to compare than their letters.
    if (name.length === ACCEPT.length && lowerName(name) === ACCEPT && ACCEPTS_PROBLEM.test(headers[index + 1]!))
      return true;
  }
  return false;
}

/** Sends every refusal. Resets a response that has started: a clean end would make it look complete. */
export function refuse(exchange: Exchange, refusal: Refusal, form: ErrorForm): void {
  exchange.logEntry.refusal = refusal;
  if (exchange.client.started) {
    exchange.client.abort();
    return;
  }
  const { headers, body } = renderRefusal(exchange, refusal, form);
  exchange.client.send(refusal.status, headers, body);
}
