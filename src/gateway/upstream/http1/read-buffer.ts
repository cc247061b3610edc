/** Bytes read at once, as many as Node makes room for itself. */
const READ_BYTES = 64 * 1024;
/** A shorter piece is copied into memory of its own. */
const KEPT_BYTES = 16 * 1024;
/** Blocks that may lie idle: 4 MiB. */
const MAX_FREE = 64;

/** What every connection reads into that isn't in the middle of an answer. Holds nothing from one read to the next. */
export const SHARED = Buffer.allocUnsafeSlow(READ_BYTES);

/** Memory for one read, and how many hold it: the connection that reads into it, and each piece of it that was kept. */
class Block {
  readonly bytes = Buffer.allocUnsafeSlow(READ_BYTES);
  holders = 0;
}

const FREE: Block[] = [];
/** The blocks of the pieces that may still be read. One whose piece is never released goes with it. */
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
 * Where one connection reads into. Node makes a buffer of 64 KiB for each read and then shrinks it: to copy a short
 * answer out of a shared buffer costs less. For long ones the same blocks serve again: V8 counts new ones as garbage
 * and marks the whole heap every 64 MB of them, which made an answer of 64 KiB cost 270 µs instead of 100.
 */
export class ReadBuffer {
  #own: Block | null = null;

  /** The buffer of the next read. @param isLong there is more to come of an answer: it gets a block of its own */
  next(isLong: boolean): Buffer {
    if (this.#own !== null && (!isLong || this.#own.holders > 1)) {
      drop(this.#own);
      this.#own = null;
    }
    if (!isLong) return SHARED;
    this.#own ??= take();
    return this.#own.bytes;
  }

  /** `piece` of the bytes just read, as its receiver may keep it. */
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

/** Nobody reads this piece again: its memory may serve others. Once only; nothing happens for any other Buffer. */
export function release(piece: Buffer): void {
  const block = KEPT.get(piece);
  if (block === undefined) return;
  KEPT.delete(piece);
  drop(block);
}
