/** Bytes read at once, as many as Node makes room for itself. */
const READ_BYTES = 64 * 1024;
/** A piece of at least this size is not copied: it keeps the buffer that it was read into. */
const KEPT_BYTES = 16 * 1024;

/** What every connection reads into that isn't in the middle of an answer. Holds nothing from one read to the next. */
export const SHARED = Buffer.allocUnsafeSlow(READ_BYTES);

/**
 * Where one connection reads into. Node makes a buffer of 64 KiB for each read and then shrinks it, which
 * costs more than to copy a short answer out of a buffer that all share.
 */
export class ReadBuffer {
  #own: Buffer | null = null;
  #isKept = false;

  /** The buffer of the next read. @param isLong there is more to come of an answer: it gets a buffer of its own */
  next(isLong: boolean): Buffer {
    if (!isLong) {
      this.#own = null;
      return SHARED;
    }
    if (this.#own === null || this.#isKept) {
      this.#own = Buffer.allocUnsafeSlow(READ_BYTES);
      this.#isKept = false;
    }
    return this.#own;
  }

  /** `piece` of the bytes just read, as its receiver may keep it. */
  keep(piece: Buffer): Buffer {
    if (this.#own === null || piece.length < KEPT_BYTES) return Buffer.from(piece);
    this.#isKept = true;
    return piece;
  }
}
