import type { Readable } from 'node:stream';
import { REFUSALS } from '../refusal.js';
import type { Refusal } from '../refusal.js';

/** Bytes that come in pieces, kept in one block: a Buffer of its own for each byte would take a hundred times as much. */
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

/**
 * Gives the whole body, or the refusal of one that is too large. What breaks it off is for the caller to see.
 * @param hold whether there is room for so many bytes more
 */
export function gatherBody(
  source: Readable,
  maxBytes: number,
  hold: (bytes: number) => boolean,
  settle: (result: Buffer | Refusal) => void,
): void {
  let body = new Pieces();
  let refused = false;
  const refuse = (refusal: Refusal): void => {
    refused = true;
    body = new Pieces();
    settle(refusal);
  };
  source.on('data', (piece: Buffer) => {
    // What still comes is read and dropped, and what came is let go of.
    if (refused) return;
    if (body.bytes + piece.length > maxBytes) refuse(REFUSALS.body_too_large);
    else if (!hold(piece.length)) refuse(REFUSALS.overloaded);
    else body.add(piece);
  });
  source.on('end', () => {
    if (!refused) settle(body.whole());
  });
}

/** A body ends once, however many events report its end. */
export function once<Result>(settle: (result: Result) => void): (result: Result) => void {
  let settled = false;
  return (result) => {
    if (settled) return;
    settled = true;
    settle(result);
  };
}
