/** Maximum bytes per read, the same as in Node. */
const READ_BYTES = 64 * 1024;
/** Shorter pieces are copied into their own memory. */
const KEPT_BYTES = 16 * 1024;
/** Maximum unused blocks kept: 4 MiB. */
const MAX_FREE = 64;

/** Buffer for all connections that are not in the middle of a response. Its contents last only until the next read. */
export const SHARED = Buffer.allocUnsafeSlow(READ_BYTES);

/** Memory for one read. Its holders are the connection that reads into it and each piece that was kept. */
class Block {
  readonly bytes = Buffer.allocUnsafeSlow(READ_BYTES);
  holders = 0;
}

const FREE: Block[] = [];
/** Blocks of pieces still in use. If a piece is never released, its block is garbage-collected with it. */
const KEPT = new WeakMap<Buffer, Block>();

function take(): Block {
  const block = FREE.pop() ?? new Block();
  block.holders = 1;
  return block;
}

function drop(block: Block): void {
  block.holders -= 1;
  if (block.holders === 0 && FREE.length < MAX_FREE) FREE.push(block);
}

/**
 * The read buffer of one connection. Node allocates 64 KiB for each read and then shrinks it: copying a short response
 * out of a shared buffer is cheaper. Long responses reuse blocks: V8 counts new ones as garbage and marks the whole
 * heap for every 64 MB of them, so that a response of 64 KiB would take 270 µs instead of 100.
 */
export class ReadBuffer {
  #own: Block | null = null;

  /** Returns the buffer for the next read. @param isLong more of a response follows: it gets its own block */
  next(isLong: boolean): Buffer {
    if (this.#own !== null && (!isLong || this.#own.holders > 1)) {
      drop(this.#own);
      this.#own = null;
    }
    if (!isLong) return SHARED;
    this.#own ??= take();
    return this.#own.bytes;
  }

  /** Returns a piece of the bytes just read in a form that its receiver may keep. */
  keep(piece: Buffer): Buffer {
    if (piece.length < KEPT_BYTES) return Buffer.from(piece);
    if (this.#own === null) return copyOf(piece);
    this.#own.holders += 1;
    KEPT.set(piece, this.#own);
    return piece;
  }
}

function copyOf(piece: Buffer): Buffer {
  const block = take();
  piece.copy(block.bytes);
  const copy = block.bytes.subarray(0, piece.length) as Buffer;
  KEPT.set(copy, block);
  return copy;
}

/** Frees the memory of a piece that nobody reads again. Does nothing the second time, or for any other Buffer. */
export function release(piece: Buffer): void {
  const block = KEPT.get(piece);
  if (block === undefined) return;
  KEPT.delete(piece);
  drop(block);
}
