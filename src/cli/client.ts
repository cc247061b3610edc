import { request as requestHttp } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { pipeline } from 'node:stream/promises';
import type { AdminAddress } from './admin-address.js';
import { Failure } from './failure.js';

export type Json = Readonly<Record<string, unknown>>;
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const SILENCE_MS = 30_000;
/** A report over a large ledger is worked out before its first row can be told. */
const REPORT_SILENCE_MS = 900_000;

/** Asks the admin API. Whatever isn't a success becomes a Failure with the gateway's own words. */
export class AdminClient {
  readonly #address: AdminAddress;

  constructor(address: AdminAddress) {
    this.#address = address;
  }

  /** The answer's JSON; `{}` when it has no body. */
  async ask(method: Method, path: string, body?: Json): Promise<Json> {
    const text = await textOf(await this.#send(method, path, body));
    return text === '' ? {} : readJson(text);
  }

  /** All of a paged listing, page after page. */
  async askAll(path: string, query: URLSearchParams, list: string): Promise<readonly Json[]> {
    const items: Json[] = [];
    query.set('limit', '1000');
    for (let cursor: unknown = ''; typeof cursor === 'string'; ) {
      if (cursor !== '') query.set('cursor', cursor);
      const page = await this.ask('GET', `${path}?${query.toString()}`);
      items.push(...listIn(page, list));
      ({ cursor } = page);
    }
    return items;
  }

  /** Copies the answer to standard output as it comes. */
  async pour(path: string): Promise<void> {
    await pipeline(await this.open(path), process.stdout, { end: false });
  }

  /** The answer as a stream, which fails if it is cut short. */
  open(path: string): Promise<IncomingMessage> {
    return this.#send('GET', path, undefined, REPORT_SILENCE_MS);
  }

  async #send(method: Method, path: string, body?: Json, silenceMs = SILENCE_MS): Promise<IncomingMessage> {
    const response = await this.#exchange(method, path, body, silenceMs);
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return response;
    const { message } = readJson(await textOf(response));
    const said = typeof message === 'string' ? message : `The admin API answered ${status}.`;
    if (status === 401) throw new Failure(`The gateway at ${this.#address.url.origin} does not take the admin token from ${this.#address.tokenSource}.`);
    throw new Failure(said.split('; ').join('\n'));
  }

  #exchange(method: Method, path: string, body: Json | undefined, silenceMs: number): Promise<IncomingMessage> {
    const { url, token } = this.#address;
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const headers = { Authorization: `Bearer ${token}`, ...(payload === undefined ? {} : { 'Content-Type': 'application/json' }) };
    const target = new URL(url.pathname.replace(/\/$/, '') + path, url);
    return new Promise((resolve, reject) => {
      const request = url.protocol === 'https:' ? requestHttps : requestHttp;
      const req = request(target, { method, headers, agent: false, timeout: silenceMs }, resolve);
      req.on('timeout', () => req.destroy(new Error(`no answer within ${silenceMs / 1000} s`)));
      req.on('error', (error) => reject(this.#unreachable(error)));
      req.end(payload);
    });
  }

  #unreachable(error: NodeJS.ErrnoException): Failure {
    const { origin } = this.#address.url;
    if (error.code === 'ECONNREFUSED') {
      return new Failure(`The gateway is not running at ${origin}. Start it with "npm start" (or "petgate gateway"); if it listens elsewhere, set ADMIN_HOST and ADMIN_PORT or give --admin-url.`);
    }
    return new Failure(`The admin API at ${origin} can't be reached: ${error.message === '' ? (error.code ?? 'unknown reason') : error.message}.`);
  }
}

/** The list called `name` in a page. */
export function listIn(page: Json, name: string): readonly Json[] {
  const list = page[name];
  if (!Array.isArray(list)) throw new Failure(`The admin API's answer has no ${name}. Is --admin-url the address of a Petgate gateway?`);
  return list as readonly Json[];
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function readJson(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Json;
  } catch {
    // Told below: what answered is no Petgate.
  }
  throw new Failure('What answered is not the admin API of a Petgate gateway (no JSON). Check ADMIN_PORT or --admin-url.');
}
