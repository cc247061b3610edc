import type { Readable } from 'node:stream';
import { REFUSALS, type Refusal } from '../refusal.js';

/** Bytes that come in pieces, kept in one block: a Buffer for each byte would take a hundred times as much. */
export class Pieces {
  #block: Buffer | null = null;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(piece: Buffer): void {
    const bytes = this.#bytes + piece.length;
    if (this.#block === null) this.#block = piece;
    else {
      if (bytes > this.#block.length) this.#grow(2 * bytes);
      piece.copy(this.#block, this.#bytes);
    }
    this.#bytes = bytes;
  }

  whole(): Buffer {
    return this.#block === null ? Buffer.alloc(0) : this.#block.subarray(0, this.#bytes);
  }

  #grow(bytes: number): void {
    const block = Buffer.allocUnsafeSlow(bytes);
    this.#block!.copy(block, 0, 0, this.#bytes);
    this.#block = block;
  }
}

/** Gives the whole body, or the refusal of one that is too large. What breaks it off is for the caller to see. */
export function gatherBody(source: Readable, maxBytes: number, settle: (result: Buffer | Refusal) => void): void {
  let body = new Pieces();
  let isTooLarge = false;
  source.on('data', (piece: Buffer) => {
    // What still comes is read and dropped, and what came is let go of.
    if (isTooLarge) return;
    isTooLarge = body.bytes + piece.length > maxBytes;
    if (!isTooLarge) body.add(piece);
    else {
      body = new Pieces();
      settle(REFUSALS.body_too_large);
    }
  });
  source.on('end', () => {
    if (!isTooLarge) settle(body.whole());
  });
}
