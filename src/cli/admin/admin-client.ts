import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { userInfo } from 'node:os';
import { PassThrough, Readable, type Transform, type Writable } from 'node:stream';
import type { AdminAddress } from './address.js';
import { CommandError } from '../terminal/command-error.js';

export type Json = Readonly<Record<string, unknown>>;
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Connects to the admin API when called: help needs no gateway. */
export type Connect = () => Promise<AdminClient>;

const SILENCE_MS = 30_000;
/** The gateway computes a report over a large ledger before it sends the first row. */
const REPORT_SILENCE_MS = 900_000;
/** After the last line of an import, the gateway still has lines to write. */
const IMPORT_SILENCE_MS = 600_000;

/** Calls the admin API. Every failure becomes a CommandError with the gateway's own message. */
export class AdminClient {
  readonly #address: AdminAddress;

  constructor(address: AdminAddress) {
    this.#address = address;
  }

  /** Resolves to the JSON of the response; `{}` if it has no body. */
  async ask(method: Method, path: string, body?: Json): Promise<Json> {
    const answer = await text(await this.#send(method, path, body));
    return answer === '' ? {} : readJson(answer);
  }

  /** Reads a paged list, all of it or the first `max` items; resolves to one page with all of these. */
  async askAll(path: string, query: URLSearchParams, list: string, max = Infinity): Promise<Json> {
    const items: Json[] = [];
    let page: Json = {};
    for (let cursor: unknown = ''; typeof cursor === 'string' && items.length < max; { cursor } = page) {
      query.set('limit', String(Math.min(max - items.length, 1_000)));
      if (cursor !== '') query.set('cursor', cursor);
      page = await this.ask('GET', `${path}?${query.toString()}`);
      items.push(...listIn(page, list));
    }
    return { ...page, [list]: items };
  }

  /** Streams the response to `out` through `meter`. */
  async pour(path: string, out: Writable = process.stdout, meter: Transform = new PassThrough()): Promise<void> {
    try {
      await pipeline(await this.open(path), meter, out, { end: false });
    } catch (error) {
      if (error instanceof CommandError || (error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
      throw new CommandError(
        'The gateway ended its response early, so the output is incomplete. Check its log, then try again.',
      );
    }
  }

  /** Resolves to the response as a stream, which fails if it is cut short. */
  open(path: string, method: Method = 'GET'): Promise<IncomingMessage> {
    return this.#send(method, path, undefined, REPORT_SILENCE_MS);
  }

  /** Streams `lines` as the body of a POST; resolves to the JSON of the response. */
  async upload(path: string, lines: Readable): Promise<Json> {
    return readJson(await text(await this.#send('POST', path, lines, IMPORT_SILENCE_MS)));
  }

  async #send(method: Method, path: string, body?: Json | Readable, silenceMs = SILENCE_MS): Promise<IncomingMessage> {
    const response = await this.#exchange(method, path, body, silenceMs);
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return response;
    const { message } = readJson(await text(response));
    const said = typeof message === 'string' ? message : `The admin API responded with status ${status}.`;
    if (status === 401)
      throw new CommandError(
        `The gateway at ${this.#address.url.origin} rejected the admin token in ${this.#address.tokenSource}.\n` +
          'Run the command in the folder the gateway was started in, or set PETGATE_DATA to its data folder, or ' +
          'PETGATE_ADMIN_TOKEN to one of its tokens.',
      );
    // Puts each problem on a line of its own; it begins with its field.
    throw new CommandError(said.replace(/; (?=[\w.]+: )/g, '\n'));
  }

  #exchange(method: Method, path: string, body: Json | Readable | undefined, silenceMs: number) {
    const { url, token } = this.#address;
    const stream = body instanceof Readable ? body : undefined;
    const payload = body === undefined || stream !== undefined ? undefined : JSON.stringify(body);
    const type = stream === undefined ? 'application/json' : 'application/x-ndjson';
    const headers = {
      Authorization: `Bearer ${token}`,
      'X-Petgate-Actor': ACTOR,
      ...(body === undefined ? {} : { 'Content-Type': type }),
    };
    const target = new URL(url.pathname.replace(/\/$/, '') + path, url);
    return new Promise<IncomingMessage>((resolve, reject) => {
      const request = url.protocol === 'https:' ? requestHttps : requestHttp;
      const req = request(target, { method, headers, agent: false, timeout: silenceMs }, resolve);
      req.on('timeout', () => req.destroy(new Error(`no response within ${silenceMs / 1000} s`)));
      req.on('error', (error) => reject(this.#unreachable(error)));
      if (stream === undefined) req.end(payload);
      else stream.on('error', (error) => (reject(error), req.destroy())).pipe(req);
    });
  }

  #unreachable(error: NodeJS.ErrnoException): CommandError {
    const { origin } = this.#address.url;
    if (error.code === 'ECONNREFUSED') {
      return new CommandError(
        `The gateway is not running at ${origin}. Start it with "npm start" (or "petgate gateway"); if it ` +
          'listens elsewhere, set ADMIN_HOST and ADMIN_PORT or give --admin-url.',
      );
    }
    return new CommandError(
      `The admin API at ${origin} can't be reached: ` +
        `${error.message === '' ? (error.code ?? 'unknown reason') : error.message}.`,
    );
  }
}

/** The actor in the keys' history: the user of this terminal, if the system knows one. */
const ACTOR = ((): string => {
  try {
    return `cli:${userInfo()
      .username.replace(/[^!-~]/g, '?')
      .slice(0, 60)}`;
  } catch {
    return 'cli';
  }
})();

/** Returns the list `name` of a page. Throws CommandError if there is none. */
export function listIn(page: Json, name: string): readonly Json[] {
  const list = page[name];
  if (!Array.isArray(list))
    throw new CommandError(`The admin API's response has no ${name}. Is --admin-url the address of a Petgate gateway?`);
  return list as readonly Json[];
}

/** Yields the non-empty lines of a streamed response. Throws CommandError if it is cut short. */
export async function* linesIn(response: IncomingMessage): AsyncGenerator<string, void> {
  const lines = createInterface({ input: response, crlfDelay: Infinity });
  const broken: Error[] = [];
  // Readline never notices that a stream broke.
  response.on('error', (error) => {
    broken.push(error);
    lines.close();
  });
  for await (const line of lines) if (line !== '') yield line;
  if (broken.length > 0) throw new CommandError('The gateway ended its response early. Check its log, then try again.');
}

function readJson(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Json;
  } catch {
    // Reported below.
  }
  throw new CommandError(
    'This is not the admin API of a Petgate gateway: the response is not JSON. Check ADMIN_PORT or --admin-url.',
  );
}
