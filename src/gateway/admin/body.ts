import type { IncomingMessage } from 'node:http';

/** Deadline for a body, or for the next part of a long one. */
export const PATIENCE_MS = 30_000;

/** Yields the body as it arrives, each part within the deadline. Stopping early keeps the connection open. */
export async function* bytesOf(req: IncomingMessage): AsyncGenerator<Buffer, void> {
  let timer = setTimeout(() => req.destroy(), PATIENCE_MS);
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      // No deadline while the reader works on the chunk: the client is not the slow one.
      clearTimeout(timer);
      yield chunk;
      timer = setTimeout(() => req.destroy(), PATIENCE_MS);
    }
  } finally {
    clearTimeout(timer);
  }
}
