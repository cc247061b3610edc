import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { commonHeaders } from '../answer.js';
import type { Operation } from '../contract/operation/operation.js';
import { DOCS, DOCS_FILE } from '../contract/own.js';
import { addVary, lowerName, wantsHtml } from '../edge/fields.js';
import type { Admitted } from '../exchange.js';
import { REFUSALS, type Refusal } from '../refusal.js';
import type { OwnResponse } from '../upstream/forward.js';
import { isKnown, takesGzip } from './negotiate.js';
import { renderPage } from './page.js';
import { referenceOf } from './reference.js';
import { DOCS_STYLE } from './style.js';

/** Kept gzipped only: most clients want it, and it takes a tenth of the memory. */
interface Asset {
  readonly type: string;
  readonly cache: string;
  readonly hash: string;
  readonly gzipped: Buffer;
}

/** Allows files of this origin and nothing inline: the page works without internet access and loads nothing else. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const SAFETY = ['X-Content-Type-Options', 'nosniff', 'Referrer-Policy', 'no-referrer'];

const SCRIPT = new URL('./docs-browser.js', import.meta.url);
const FILES = new Map([
  ['page.css', once(() => asset('text/css; charset=utf-8', DOCS_STYLE))],
  ['page.js', once(() => asset('text/javascript; charset=utf-8', readFileSync(SCRIPT)))],
]);

export function createDocsAnswers(...given: Parameters<typeof referenceOf>): ReadonlyMap<string, OwnResponse> {
  const pages = once(() => createPages(...given));
  return new Map<string, OwnResponse>([
    [DOCS, (exchange) => page(exchange, pages())],
    [DOCS_FILE, (exchange) => send(exchange, FILES.get(exchange.path.replace(/^.*\//, '')))],
  ]);
}

/**
 * Returns the page of each operation by its id, under null the overview, and under undefined what is shown for an
 * unknown id; each is rendered when first requested.
 */
function createPages(...given: Parameters<typeof referenceOf>): ReadonlyMap<string | null | undefined, () => Asset> {
  const reference = referenceOf(...given);
  // `no-cache`, so that browsers show the plans in force immediately.
  const pageOf = (operation: Operation | null | undefined) =>
    once(() => asset('text/html; charset=utf-8', renderPage(reference, operation), 'no-cache'));
  const all = [null, undefined, ...reference.operations];
  return new Map(all.map((operation) => [operation === null ? null : operation?.id, pageOf(operation)]));
}

/** Redirects a browser that requested `/`. */
function page(exchange: Admitted, pages: ReturnType<typeof createPages>): Refusal | undefined {
  const { path, query, operation } = exchange;
  if (path === operation.path) {
    const id = new URLSearchParams(query).get('operation');
    if (pages.has(id)) return send(exchange, pages.get(id));
    return send(exchange, wantsHtml(fieldOf(exchange, 'accept')) ? pages.get(undefined) : undefined, 404);
  }
  const headers = commonHeaders(exchange);
  addVary(headers, 'Accept');
  exchange.client.send(302, [...headers, 'Location', operation.path, 'Content-Length', '0'], '');
  return undefined;
}

function send(exchange: Admitted, make: (() => Asset) | undefined, status = 200): Refusal | undefined {
  if (make === undefined) return REFUSALS.not_found;
  const { type, cache, hash, gzipped } = make();
  const zipped = takesGzip(fieldOf(exchange, 'accept-encoding'));
  // Strong ETags: each coding has its own (RFC 9110 §8.8.1).
  const etag = zipped ? `"${hash}-gzip"` : `"${hash}"`;
  const isCurrent = status === 200 && isKnown(fieldOf(exchange, 'if-none-match'), etag);
  const body = isCurrent ? '' : zipped ? gzipped : gunzipSync(gzipped);
  const headers = commonHeaders(exchange);
  headers.push('ETag', etag, 'Cache-Control', cache, 'Content-Security-Policy', POLICY, ...SAFETY);
  addVary(headers, 'Accept-Encoding');
  if (!isCurrent) headers.push('Content-Type', type, 'Content-Length', String(body.length));
  if (!isCurrent && zipped) headers.push('Content-Encoding', 'gzip');
  exchange.client.send(isCurrent ? 304 : status, headers, body);
  return undefined;
}

function fieldOf({ headers }: Admitted, wanted: string): string {
  return headers.filter((_value, index) => index % 2 === 1 && lowerName(headers[index - 1]!) === wanted).join(',');
}

function asset(type: string, content: string | Buffer, cache = 'public, max-age=300'): Asset {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 16);
  return { type, cache, hash, gzipped: gzipSync(content) };
}

/** Calls `make` on first use only: most pages are never requested. */
function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
}
