import type { Readable } from 'node:stream';
import { REFUSALS } from '../refusal.js';
import type { Refusal } from '../refusal.js';

/** Gives the whole body, or the refusal of one that is too large. What breaks it off is for the caller to see. */
export function gatherBody(source: Readable, maxBytes: number, settle: (result: Buffer | Refusal) => void): void {
  let chunks: Buffer[] = [];
  let bytes = 0;
  source.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) {
      chunks.push(chunk);
      return;
    }
    // What still comes is read and dropped, and what came is let go of.
    chunks = [];
    settle(REFUSALS.body_too_large);
  });
  source.on('end', () => settle(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
}
