import type { IncomingMessage } from 'node:http';

/** A body, or the next part of a long one, that is not there by then never comes. */
export const PATIENCE_MS = 30_000;

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
