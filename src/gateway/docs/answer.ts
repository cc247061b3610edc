import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Settings } from '../config/schema/gateway.js';
import type { Contract } from '../contract/load.js';
import { commonHeaders } from '../answer.js';
import { DOCS, DOCS_FILE } from '../contract/own.js';
import { groupIn, type Group } from '../contract/served/group.js';
import { addVary, lowerName } from '../edge/fields.js';
import type { Admitted } from '../exchange.js';
import { REFUSALS, type Refusal } from '../refusal.js';
import type { OwnResponse } from '../upstream/forward.js';
import { isKnown, takesGzip } from './negotiate.js';
import { renderGroup, renderPage } from './page.js';
import { referenceOf, type Reference } from './reference.js';
import { STYLE } from './style.js';

interface Asset {
  readonly type: string;
  readonly cache: string;
  readonly plain: Representation;
  readonly gzipped: Representation;
}
interface Representation {
  readonly body: Buffer;
  /** Strong: each coding has its own (RFC 9110 §8.8.1). */
  readonly etag: string;
}

/** Allows files of this origin and nothing inline: the page works without internet access and loads nothing else. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const SAFETY = [
  'Content-Security-Policy',
  POLICY,
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
];
const JAVASCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';

const FILES = swaggerFiles();

export function createDocsAnswers(
  contract: Pick<Contract, 'routes' | 'about'>,
  settings: Pick<Settings, 'plans' | 'credentials'>,
): ReadonlyMap<string, OwnResponse> {
  const pages = once(() => createPages(referenceOf(contract, settings)));
  return new Map<string, OwnResponse>([
    [
      DOCS,
      (exchange) => {
        const { path } = exchange.operation;
        if (exchange.path !== path) {
          leadTo(exchange, path);
          return undefined;
        }
        const page = pages().get(groupIn(exchange.query));
        return page === undefined ? REFUSALS.not_found : send(exchange, page());
      },
    ],
    [
      DOCS_FILE,
      (exchange) => {
        const file = FILES.get(exchange.path.slice(exchange.path.lastIndexOf('/') + 1));
        return file === undefined ? REFUSALS.not_found : send(exchange, file());
      },
    ],
  ]);
}

/** Returns the page of each group, and under undefined the main page. */
function createPages(reference: Reference): ReadonlyMap<Group | undefined, () => Asset> {
  // `no-cache`, so that browsers show the plans in force immediately.
  const html = (page: string): Asset => asset('text/html; charset=utf-8', page, 'no-cache');
  const pages = [...reference.groups].map(
    ([name, group]) => [name, once(() => html(renderGroup(reference, group)))] as const,
  );
  return new Map([[undefined, once(() => html(renderPage(reference)))], ...pages]);
}

function swaggerFiles(): ReadonlyMap<string, () => Asset> {
  const library = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return new Map([
    ['page.css', once(() => asset(CSS, STYLE))],
    ['page.js', once(() => asset(JAVASCRIPT, readFileSync(new URL('./docs-browser.js', import.meta.url))))],
    ['swagger-ui.css', once(() => asset(CSS, readFileSync(join(library, 'swagger-ui.css'))))],
    ['swagger-ui-bundle.js', once(() => asset(JAVASCRIPT, readFileSync(join(library, 'swagger-ui-bundle.js'))))],
  ]);
}

/** Redirects a browser that requested `/`. */
function leadTo(exchange: Admitted, path: string): void {
  const headers = commonHeaders(exchange);
  addVary(headers, 'Accept');
  exchange.client.send(302, [...headers, 'Location', path, 'Content-Length', '0'], '');
}

function send(exchange: Admitted, { type, cache, plain, gzipped }: Asset): Refusal | undefined {
  const zipped = takesGzip(fieldOf(exchange, 'accept-encoding'));
  const { body, etag } = zipped ? gzipped : plain;
  const headers = commonHeaders(exchange);
  headers.push('ETag', etag, 'Cache-Control', cache, ...SAFETY);
  addVary(headers, 'Accept-Encoding');
  if (isKnown(fieldOf(exchange, 'if-none-match'), etag)) {
    exchange.client.send(304, headers, '');
    return undefined;
  }
  headers.push('Content-Type', type, 'Content-Length', String(body.length));
  if (zipped) headers.push('Content-Encoding', 'gzip');
  exchange.client.send(200, headers, body);
  return undefined;
}

function fieldOf({ headers }: Admitted, wanted: string): string {
  return headers.filter((_value, index) => index % 2 === 1 && lowerName(headers[index - 1]!) === wanted).join(',');
}

function asset(type: string, content: string | Buffer, cache = 'public, max-age=300'): Asset {
  const plain = Buffer.from(content);
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 16);
  return {
    type,
    cache,
    plain: { body: plain, etag: `"${hash}"` },
    gzipped: { body: gzipSync(plain), etag: `"${hash}-gzip"` },
  };
}

/** Calls `make` on first use only: most gateways never serve the page, and compressing 1.7 MB takes time. */
function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
}
