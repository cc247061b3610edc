import type { SubjectState } from '../../../decide.js';
import { COUNTS_BYTES, unpackCounts, writeCounts } from './key-entry.js';
import type { KeyEntry, Slot } from './key-entry.js';
import { labelFrom } from './label.js';
import { readState, STATE_BYTES, viewOf, writeState } from './subject-state.js';

/**
 * A row of the log: all keys that one transaction changed, as they are after it; of the copy of the log, that some did. Of each key: two bytes of length
 * and the id, the state, two bytes that say how many counts changed, and of each of these two bytes of length,
 * the label, and the counts. Little-endian.
 */
const LENGTH_BYTES = 2;

let scratch = Buffer.alloc(65_536);

/** Some keys, and of their counts those that changed after the transaction `after`. It stands in memory that the next row uses again. */
export function packRow(entries: readonly KeyEntry[], after: number): Buffer {
  let at = 0;
  for (const entry of entries) {
    makeRoom(at, sizeOf(entry));
    at = packEntry(entry, after, viewOf(scratch), at);
  }
  return scratch.subarray(0, at);
}

function packEntry({ idBytes, state, slots }: KeyEntry, after: number, view: DataView, start: number): number {
  let at = packText(idBytes, view, start);
  writeState(state, view, at);
  const countAt = at + STATE_BYTES;
  at = countAt + LENGTH_BYTES;
  let count = 0;
  for (const { label, counts, changedBy } of slots) {
    if (changedBy <= after) continue;
    count += 1;
    at = packText(label.bytes, view, at);
    writeCounts(counts, view, at);
    at += COUNTS_BYTES;
  }
  view.setUint16(countAt, count, true);
  return at;
}

function packText(text: Buffer, view: DataView, at: number): number {
  view.setUint16(at, text.length, true);
  scratch.set(text, at + LENGTH_BYTES);
  return at + LENGTH_BYTES + text.length;
}

function sizeOf({ idBytes, slots }: KeyEntry): number {
  let size = 2 * LENGTH_BYTES + idBytes.length + STATE_BYTES;
  for (const { label } of slots) size += LENGTH_BYTES + label.bytes.length + COUNTS_BYTES;
  return size;
}

function makeRoom(used: number, more: number): void {
  if (used + more <= scratch.length) return;
  const larger = Buffer.alloc(2 * (used + more));
  larger.set(scratch.subarray(0, used));
  scratch = larger;
}

/** What a row says of one key. */
interface LoggedKey {
  readonly id: string;
  readonly state: SubjectState;
  readonly slots: readonly Omit<Slot, 'changedBy'>[];
}

export function* unpackRow(row: Buffer): Generator<LoggedKey> {
  for (let at = 0; at < row.length;) {
    const idEnd = at + LENGTH_BYTES + row.readUInt16LE(at);
    const id = row.toString('utf8', at + LENGTH_BYTES, idEnd);
    const state = readState(viewOf(row), row.byteOffset + idEnd);
    at = idEnd + STATE_BYTES + LENGTH_BYTES;
    const slots = Array.from({ length: row.readUInt16LE(at - LENGTH_BYTES) }, () => {
      const labelEnd = at + LENGTH_BYTES + row.readUInt16LE(at);
      const label = labelFrom(row.toString('utf8', at + LENGTH_BYTES, labelEnd));
      at = labelEnd + COUNTS_BYTES;
      return { label, counts: unpackCounts(row.subarray(labelEnd, at)) };
    });
    yield { id, state, slots };
  }
}
