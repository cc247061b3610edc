import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

type Chunk = string | Buffer;

/** Fields of one answer, beside those of every answer. */
export type Headers = Readonly<Record<string, string | string[]>>;

/** What a handler answers: one body of JSON or text, a stream of text, or nothing (204). */
export type Answer =
  | { readonly status: number; readonly json: unknown }
  | { readonly status: number; readonly type: string; readonly text: string }
  | {
      readonly status: number;
      readonly type: string;
      readonly chunks: AsyncIterator<Chunk, void>;
      readonly headers?: Headers;
    }
  | { readonly status: 204 };

/** The admin API says no. The message tells the operator what to do. */
export class AdminRefusal extends Error {
  override readonly name = 'AdminRefusal';
  readonly status: number;
  readonly code: string;
  readonly headers: Headers;

  constructor(status: number, code: string, message: string, headers: Headers = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

// Answers hold secrets and figures of this very moment: nobody may keep or interpret them.
const COMMON_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
const JSON_TYPE = 'application/json';

/** Sends `answer`. A stream that fails after its first bytes is cut, never ended as if it were whole. */
export async function send(res: ServerResponse, answer: Answer): Promise<void> {
  if ('chunks' in answer) {
    // The store is asked before the head is out: if it is away, a 503 can still be told.
    const first = await answer.chunks.next();
    res.writeHead(answer.status, { ...COMMON_HEADERS, 'Content-Type': answer.type, ...answer.headers });
    await pipeline(replay(first, answer.chunks), res);
    return;
  }
  if ('json' in answer) sendText(res, answer.status, JSON_TYPE, JSON.stringify(answer.json));
  else if ('text' in answer) sendText(res, answer.status, answer.type, answer.text);
  else res.writeHead(204, COMMON_HEADERS).end();
}

/** The one form of an error (contract, section 7). */
export function sendRefusal(res: ServerResponse, refusal: AdminRefusal): void {
  const { status, code, message, headers } = refusal;
  sendText(res, status, JSON_TYPE, JSON.stringify({ code, message, status }), headers);
}

function sendText(res: ServerResponse, status: number, type: string, text: string, headers: Headers = {}): void {
  const length = Buffer.byteLength(text);
  res.writeHead(status, { ...COMMON_HEADERS, 'Content-Type': type, 'Content-Length': length, ...headers }).end(text);
}

async function* replay(
  first: IteratorResult<Chunk, void>,
  rest: AsyncIterator<Chunk, void>,
): AsyncGenerator<Chunk, void> {
  try {
    for (let item = first; item.done !== true; item = await rest.next()) yield item.value;
  } finally {
    // The client may have gone: what makes the rest can stop.
    await rest.return?.();
  }
}
