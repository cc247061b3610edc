import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plans } from '../admission/plan.js';
import type { Contract } from '../contract/load.js';
import { commonHeaders } from '../edge/answer.js';
import { addVary, lowerName } from '../edge/fields.js';
import type { Admitted } from '../exchange.js';
import { REFUSALS } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import type { OwnAnswer } from '../upstream/forward.js';
import { errorRows } from './errors.js';
import { renderPage } from './page.js';
import { START, STYLE } from './style.js';

/** One file of the page, ready to be sent. */
interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  readonly etag: string;
}

/** Only from here, and nothing embedded: the page works without internet and lets nothing else in. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const SAFETY = ['Content-Security-Policy', POLICY, 'X-Content-Type-Options', 'nosniff', 'Referrer-Policy', 'no-referrer'];
const JAVASCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';

const FILES = swaggerFiles();

/** `/docs` and its files, built from the contract and the plans. */
export function createDocsAnswers(contract: Contract, plans: Plans): ReadonlyMap<string, OwnAnswer> {
  const page = once(() => asset('text/html; charset=utf-8', renderPage(contract.routes.operations, plans, errorRows(contract.document))));
  return new Map<string, OwnAnswer>([
    ['getDocs', (exchange) => send(exchange, page())],
    ['getDocsFile', (exchange) => {
      const file = FILES.get(exchange.path.slice(exchange.path.lastIndexOf('/') + 1));
      return file === undefined ? REFUSALS.not_found : send(exchange, file());
    }],
  ]);
}

function swaggerFiles(): ReadonlyMap<string, () => Asset> {
  const library = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return new Map([
    ['page.css', once(() => asset(CSS, STYLE))],
    ['page.js', once(() => asset(JAVASCRIPT, START))],
    ['swagger-ui.css', once(() => asset(CSS, readFileSync(join(library, 'swagger-ui.css'))))],
    ['swagger-ui-bundle.js', once(() => asset(JAVASCRIPT, readFileSync(join(library, 'swagger-ui-bundle.js'))))],
  ]);
}

function send(exchange: Admitted, { type, plain, gzipped, etag }: Asset): Refusal | undefined {
  const headers = commonHeaders(exchange);
  headers.push('ETag', etag, 'Cache-Control', 'public, max-age=300', ...SAFETY);
  addVary(headers, 'Accept-Encoding');
  if (fieldOf(exchange, 'if-none-match') === etag) {
    exchange.client.send(304, headers, '');
    return undefined;
  }
  const zipped = /\bgzip\b/.test(fieldOf(exchange, 'accept-encoding'));
  const body = zipped ? gzipped : plain;
  headers.push('Content-Type', type, 'Content-Length', String(body.length));
  if (zipped) headers.push('Content-Encoding', 'gzip');
  exchange.client.send(200, headers, body);
  return undefined;
}

function fieldOf({ headers }: Admitted, wanted: string): string {
  const at = headers.findIndex((name, index) => index % 2 === 0 && lowerName(name) === wanted);
  return at === -1 ? '' : headers[at + 1]!;
}

function asset(type: string, content: string | Buffer): Asset {
  const plain = Buffer.from(content);
  const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 16)}"`;
  return { type, plain, gzipped: gzipSync(plain), etag };
}

/** Made when first asked for: most gateways never serve the page, and zipping 1.7 MB takes its time. */
function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
}
