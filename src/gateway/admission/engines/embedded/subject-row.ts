import { freshState } from '../../decide.js';
import type { SubjectState } from '../../decide.js';
import type { UsageCounts } from '../../port.js';

/**
 * A row of `recent`: the subject's state and, for a key, what it used lately, together, so that an
 * admission reads and writes one row. Bytes: eight doubles of state, then slots, oldest first: two
 * bytes of label length, the label, four doubles of counts. Little-endian.
 */
const STATE_BYTES = 64;
const COUNTS_BYTES = 32;
const LENGTH_BYTES = 2;

/** Where in the counts each stands. */
export const FIELD_AT: Readonly<Record<keyof UsageCounts, number>> = { requests: 0, limited: 8, banned: 16, failed: 24 };

export class SubjectRow {
  readonly state: SubjectState;
  changed = false;
  #bytes: Buffer;

  /** @param bytes a copy of its own, of a whole row or of a state alone; undefined for a subject never seen */
  constructor(bytes: Buffer | undefined) {
    this.#bytes = bytes ?? Buffer.alloc(STATE_BYTES);
    this.state = bytes === undefined ? freshState() : unpackState(bytes);
  }

  /** Adds 1 to a count. `seed` is asked for the counts so far when the row has none under `label`. */
  count(label: Buffer, field: keyof UsageCounts, seed: () => Buffer | undefined): void {
    let at = this.#find(label);
    if (at < 0) {
      at = this.#bytes.length + LENGTH_BYTES + label.length;
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt16LE(label.length);
      this.#bytes = Buffer.concat([this.#bytes, length, label, seed() ?? Buffer.alloc(COUNTS_BYTES)]);
    }
    at += FIELD_AT[field];
    this.#bytes.writeDoubleLE(this.#bytes.readDoubleLE(at) + 1, at);
  }

  /** The row to store. */
  packed(): Buffer {
    packState(this.state, this.#bytes);
    return this.#bytes;
  }

  /** Where the counts under `label` begin; -1 when there are none. */
  #find(label: Buffer): number {
    const bytes = this.#bytes;
    for (let at = STATE_BYTES; at < bytes.length; ) {
      const length = bytes.readUInt16LE(at);
      const labelAt = at + LENGTH_BYTES;
      if (length === label.length && holdsAt(bytes, label, labelAt)) return labelAt + length;
      at = labelAt + length + COUNTS_BYTES;
    }
    return -1;
  }
}

/** The state alone, out of a stored row. */
export const stateBytesOf = (row: Buffer): Buffer => row.subarray(0, STATE_BYTES);

/** Labels and counts of a stored row, oldest first. */
export function* slotsOf(row: Buffer): Generator<{ readonly label: string; readonly counts: Buffer }> {
  for (let at = STATE_BYTES; at < row.length; ) {
    const labelAt = at + LENGTH_BYTES;
    const countsAt = labelAt + row.readUInt16LE(at);
    yield { label: row.toString('utf8', labelAt, countsAt), counts: row.subarray(countsAt, countsAt + COUNTS_BYTES) };
    at = countsAt + COUNTS_BYTES;
  }
}

export function unpackState(bytes: Buffer): SubjectState {
  const view = viewOf(bytes);
  const at = bytes.byteOffset;
  return {
    minute: { level: view.getFloat64(at, true), atMs: view.getFloat64(at + 8, true) },
    day: { level: view.getFloat64(at + 16, true), atMs: view.getFloat64(at + 24, true) },
    strikes: view.getFloat64(at + 32, true),
    strikesSinceMs: view.getFloat64(at + 40, true),
    bannedUntilMs: view.getFloat64(at + 48, true),
    banLevel: view.getFloat64(at + 56, true),
  };
}

function packState(state: SubjectState, bytes: Buffer): void {
  const view = viewOf(bytes);
  const at = bytes.byteOffset;
  view.setFloat64(at, state.minute.level, true);
  view.setFloat64(at + 8, state.minute.atMs, true);
  view.setFloat64(at + 16, state.day.level, true);
  view.setFloat64(at + 24, state.day.atMs, true);
  view.setFloat64(at + 32, state.strikes, true);
  view.setFloat64(at + 40, state.strikesSinceMs, true);
  view.setFloat64(at + 48, state.bannedUntilMs, true);
  view.setFloat64(at + 56, state.banLevel, true);
}

function holdsAt(bytes: Buffer, label: Buffer, at: number): boolean {
  for (let index = 0; index < label.length; index += 1) {
    if (bytes[at + index] !== label[index]) return false;
  }
  return true;
}

// Small buffers are cut from shared pools, so that the view of the last one mostly serves again.
let view = new DataView<ArrayBufferLike>(new ArrayBuffer(STATE_BYTES));
function viewOf(bytes: Buffer): DataView {
  if (view.buffer !== bytes.buffer) view = new DataView(bytes.buffer);
  return view;
}
