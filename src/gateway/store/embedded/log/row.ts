import type { SubjectState } from '../../../admission/decide.js';
import { COUNTS_BYTES, countsBytes, MORE_COUNTS_BYTES, unpackCounts, writeCounts } from './key-entry.js';
import type { KeyEntry, Slot } from './key-entry.js';
import { labelFrom } from './label.js';
import { readState, STATE_BYTES, viewOf, writeState } from '../../state.js';
import { packedWindows, unpackWindows } from '../../subject-state.js';

/**
 * A row of the log: all keys that one transaction changed, as they are after it; of the copy of the log, that some did.
 * Of each key: two bytes of length
 * and the id, the state, two bytes that say how many counts changed, and of each of these two bytes of length,
 * the label, and the counts. Little-endian. The highest bit of a length says that more stands there than the least:
 * of an id, that after the state come two bytes of length and its other windows; of a label, that its counts have
 * units.
 */
const LENGTH_BYTES = 2;
const MORE = 0x8000;
const LENGTH = 0x7fff;

let scratch = Buffer.alloc(65_536);

/**
 * Some keys, and of their counts those that changed after the transaction `after`. It stands in memory that the next
 * row uses again.
 */
export function packRow(entries: readonly KeyEntry[], after: number): Buffer {
  let at = 0;
  for (const entry of entries) {
    makeRoom(at, sizeOf(entry));
    at = packEntry(entry, after, viewOf(scratch), at);
  }
  return scratch.subarray(0, at);
}

function packEntry({ idBytes, state, slots }: KeyEntry, after: number, view: DataView, start: number): number {
  let at = packText(idBytes, state.operationWindows === null ? 0 : MORE, view, start);
  writeState(state, view, at);
  at += STATE_BYTES;
  if (state.operationWindows !== null) at = packText(packedWindows(state.operationWindows), 0, view, at);
  const countAt = at;
  at += LENGTH_BYTES;
  let count = 0;
  for (const { label, counts, changedBy } of slots) {
    if (changedBy <= after) continue;
    count += 1;
    at = packText(label.bytes, countsBytes(counts) > COUNTS_BYTES ? MORE : 0, view, at);
    at += writeCounts(counts, view, at);
  }
  view.setUint16(countAt, count, true);
  return at;
}

function packText(text: Buffer, flag: number, view: DataView, at: number): number {
  view.setUint16(at, text.length | flag, true);
  scratch.set(text, at + LENGTH_BYTES);
  return at + LENGTH_BYTES + text.length;
}

function sizeOf({ idBytes, state, slots }: KeyEntry): number {
  let size = 2 * LENGTH_BYTES + idBytes.length + STATE_BYTES;
  if (state.operationWindows !== null) size += LENGTH_BYTES + packedWindows(state.operationWindows).length;
  for (const { label, counts } of slots) size += LENGTH_BYTES + label.bytes.length + countsBytes(counts);
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
    const head = row.readUInt16LE(at);
    const idEnd = at + LENGTH_BYTES + (head & LENGTH);
    const id = row.toString('utf8', at + LENGTH_BYTES, idEnd);
    const state = readState(viewOf(row), row.byteOffset + idEnd);
    at = idEnd + STATE_BYTES;
    if ((head & MORE) !== 0) {
      const windowsEnd = at + LENGTH_BYTES + row.readUInt16LE(at);
      state.operationWindows = unpackWindows(row.subarray(at + LENGTH_BYTES, windowsEnd));
      at = windowsEnd;
    }
    at += LENGTH_BYTES;
    const slots = Array.from({ length: row.readUInt16LE(at - LENGTH_BYTES) }, () => {
      const labelHead = row.readUInt16LE(at);
      const labelEnd = at + LENGTH_BYTES + (labelHead & LENGTH);
      const label = labelFrom(row.toString('utf8', at + LENGTH_BYTES, labelEnd));
      at = labelEnd + ((labelHead & MORE) === 0 ? COUNTS_BYTES : MORE_COUNTS_BYTES);
      return { label, counts: unpackCounts(row.subarray(labelEnd, at)) };
    });
    yield { id, state, slots };
  }
}
