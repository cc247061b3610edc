import type { IncomingMessage } from 'node:http';
import type { Body } from '../../accounts/fields.js';
import { AdminRefusal } from '../answer.js';
import { NotAnObject, parseObject } from './json.js';

/** A body, or the next part of a long one, that is not there by then never comes. */
export const PATIENCE_MS = 30_000;

/** One JSON object, no field twice; `{}` for an empty body or none. Throws AdminRefusal 400. */
export function readBody(bytes: unknown): Body {
  try {
    return (bytes instanceof Buffer ? parseObject(bytes) : undefined) ?? {};
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
