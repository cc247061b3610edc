import type { IncomingMessage } from 'node:http';
import type { Body } from '../keys/fields.js';
import { AdminRefusal } from './answer.js';
import { NotAnObject, parseObject } from './json.js';

const BODY_BYTES = 65_536;
/** A body, or the next part of a long one, that is not there by then never comes. */
const PATIENCE_MS = 30_000;

/**
 * The request's body: one JSON object of at most 64 KiB, no field twice; `{}` for an empty one.
 * Rejects with AdminRefusal 400 or 413.
 */
export async function readBody(req: IncomingMessage): Promise<Body> {
  const bytes = await readBytes(req);
  try {
    return parseObject(bytes) ?? {};
  } catch (error) {
    if (error instanceof NotAnObject) throw new AdminRefusal(400, 'invalid_body', `The body ${error.message}.`);
    throw error;
  }
}

/** The body as it comes, each part in time. Leaving it early keeps the connection, for the answer. */
export async function* bytesOf(req: IncomingMessage): AsyncGenerator<Buffer, void> {
  let timer = setTimeout(() => req.destroy(), PATIENCE_MS);
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      // While it is being worked on, it is not the client who is slow.
      clearTimeout(timer);
      yield chunk;
      timer = setTimeout(() => req.destroy(), PATIENCE_MS);
    }
  } finally {
    clearTimeout(timer);
  }
}

async function readBytes(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of bytesOf(req)) {
    length += chunk.length;
    if (length > BODY_BYTES)
      throw new AdminRefusal(413, 'body_too_large', `The body is larger than ${BODY_BYTES} bytes.`, {
        Connection: 'close',
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
