import { crc32 } from 'node:zlib';
import type { SubjectState } from '../../../admission/decide.js';
import { readState, STATE_BYTES, viewOf, writeState, packedWindows, unpackWindows } from '../../state.js';
import type { BanOfKey } from './ban-history.js';
import {
  ALL_COUNTS_BYTES,
  COUNTS_BYTES,
  countsBytes,
  MORE_COUNTS_BYTES,
  unpackCounts,
  writeCounts,
  type Entry,
  type Kind,
  type Slot,
} from './entry.js';
import { labelFrom } from './label.js';
import type { PendingEvent } from './pending.js';

/**
 * A record of the journal: the new state of everything that one batch changed. Little-endian: `PgJ1`, CRC-32 of all
 * that follows, number of bytes after this field, number of the record (a double), bytes of the subjects, the subjects,
 * and `Rare` as JSON.
 *
 * A subject: length (2 bytes) and ID, state, number of changed counts (2); for each, length (2) and label, and counts.
 * Flags in the length of an ID: 0x8000, the state is followed by length (2) and windows of operations; 0x4000, it is an
 * address. In that of a label: 0x8000, the counts include units; 0x4000, also returned units.
 */
const MARK = Buffer.from('PgJ1');
const HEAD_BYTES = 24;
const [CRC_AT, SIZE_AT, NUMBER_AT, SUBJECTS_AT] = [4, 8, 12, 20];
const LENGTH_BYTES = 2;
const MORE = 0x8000;
const ADDRESS = 0x4000;
const RETURNED = 0x4000;
const LENGTH = 0x3fff;

/** What few batches have. `rows` of the file that are replaced, or removed (null), in base64. */
export interface Rare {
  readonly rows?: readonly (readonly [name: string, bytes: string | null])[] | undefined;
  readonly events?: readonly PendingEvent[] | undefined;
  readonly bans?: readonly BanOfKey[] | undefined;
}

let scratch = Buffer.alloc(65_536);

/** Packs these entries, with the counts that this record changed. The next call reuses the returned memory. */
export function packRecord(number: number, entries: readonly Entry[], rare: Rare | null): Buffer {
  let at = HEAD_BYTES;
  for (const entry of entries) {
    makeRoom(at, sizeOf(entry));
    at = packEntry(entry, number, viewOf(scratch), at);
  }
  const subjectBytes = at - HEAD_BYTES;
  if (rare !== null) {
    const json = Buffer.from(JSON.stringify(rare));
    makeRoom(at, json.length);
    scratch.set(json, at);
    at += json.length;
  }
  scratch.set(MARK);
  scratch.writeUInt32LE(at - NUMBER_AT, SIZE_AT);
  scratch.writeDoubleLE(number, NUMBER_AT);
  scratch.writeUInt32LE(subjectBytes, SUBJECTS_AT);
  scratch.writeUInt32LE(crc32(scratch.subarray(SIZE_AT, at)), CRC_AT);
  return scratch.subarray(0, at);
}

function packEntry({ kind, idBytes, state, slots }: Entry, number: number, view: DataView, start: number): number {
  const flags = (state.operationWindows === null ? 0 : MORE) | (kind === 'a' ? ADDRESS : 0);
  let at = packText(idBytes, flags, view, start);
  writeState(state, view, at);
  at += STATE_BYTES;
  if (state.operationWindows !== null) at = packText(packedWindows(state.operationWindows), 0, view, at);
  const countAt = at;
  at += LENGTH_BYTES;
  let count = 0;
  for (const { label, counts, changedBy } of slots) {
    if (changedBy !== number) continue;
    count += 1;
    at = packText(label.bytes, flagsOf(countsBytes(counts)), view, at);
    at += writeCounts(counts, view, at);
  }
  view.setUint16(countAt, count, true);
  return at;
}

function packText(text: Buffer, flags: number, view: DataView, at: number): number {
  view.setUint16(at, text.length | flags, true);
  scratch.set(text, at + LENGTH_BYTES);
  return at + LENGTH_BYTES + text.length;
}

function sizeOf({ idBytes, state, slots }: Entry): number {
  let size = 2 * LENGTH_BYTES + idBytes.length + STATE_BYTES;
  if (state.operationWindows !== null) size += LENGTH_BYTES + packedWindows(state.operationWindows).length;
  for (const { label, counts } of slots) size += LENGTH_BYTES + label.bytes.length + countsBytes(counts);
  return size;
}

function flagsOf(bytes: number): number {
  if (bytes === COUNTS_BYTES) return 0;
  return bytes === MORE_COUNTS_BYTES ? MORE : MORE | RETURNED;
}

function bytesOf(labelHead: number): number {
  if ((labelHead & MORE) === 0) return COUNTS_BYTES;
  return (labelHead & RETURNED) === 0 ? MORE_COUNTS_BYTES : ALL_COUNTS_BYTES;
}

function makeRoom(used: number, more: number): void {
  if (used + more <= scratch.length) return;
  const larger = Buffer.alloc(2 * (used + more));
  larger.set(scratch.subarray(0, used));
  scratch = larger;
}

/** One subject in a record. */
interface LoggedSubject {
  readonly kind: Kind;
  readonly id: string;
  readonly state: SubjectState;
  readonly slots: readonly Omit<Slot, 'changedBy'>[];
}

/** A record as read; `unpackSubjects` unpacks its subjects. */
export interface JournalRecord {
  readonly number: number;
  readonly subjects: Buffer;
  readonly rare: Rare | null;
}

/** Bytes that are not a record: how many, and where. */
interface Gap {
  readonly invalid: number;
  readonly at: number;
}

/** Yields the valid records of a file, and the gaps between them. An unfinished write is a gap at the end. */
export function* recordsIn(bytes: Buffer): Generator<JournalRecord | Gap> {
  for (let at = 0; at < bytes.length;) {
    let next = at;
    while (next !== -1 && endOf(bytes, next) === undefined) next = bytes.indexOf(MARK, next + 1);
    if (next !== at) yield { invalid: (next === -1 ? bytes.length : next) - at, at };
    if (next === -1) return;
    at = endOf(bytes, next)!;
    const jsonAt = next + HEAD_BYTES + bytes.readUInt32LE(next + SUBJECTS_AT);
    yield {
      number: bytes.readDoubleLE(next + NUMBER_AT),
      subjects: bytes.subarray(next + HEAD_BYTES, jsonAt),
      rare: jsonAt === at ? null : (JSON.parse(bytes.toString('utf8', jsonAt, at)) as Rare),
    };
  }
}

/** Returns the end of the record that begins at `at`; undefined if no valid one does. */
function endOf(bytes: Buffer, at: number): number | undefined {
  if (bytes.length - at < HEAD_BYTES || !bytes.subarray(at, at + MARK.length).equals(MARK)) return undefined;
  const end = at + NUMBER_AT + bytes.readUInt32LE(at + SIZE_AT);
  const isValid = end <= bytes.length && crc32(bytes.subarray(at + SIZE_AT, end)) === bytes.readUInt32LE(at + CRC_AT);
  return isValid ? end : undefined;
}

export function* unpackSubjects(bytes: Buffer): Generator<LoggedSubject> {
  for (let at = 0; at < bytes.length;) {
    const head = bytes.readUInt16LE(at);
    const idEnd = at + LENGTH_BYTES + (head & LENGTH);
    const id = bytes.toString('utf8', at + LENGTH_BYTES, idEnd);
    const state = readState(viewOf(bytes), bytes.byteOffset + idEnd);
    at = idEnd + STATE_BYTES;
    if ((head & MORE) !== 0) {
      const windowsEnd = at + LENGTH_BYTES + bytes.readUInt16LE(at);
      state.operationWindows = unpackWindows(bytes.subarray(at + LENGTH_BYTES, windowsEnd));
      at = windowsEnd;
    }
    at += LENGTH_BYTES;
    const slots = Array.from({ length: bytes.readUInt16LE(at - LENGTH_BYTES) }, () => {
      const labelHead = bytes.readUInt16LE(at);
      const labelEnd = at + LENGTH_BYTES + (labelHead & LENGTH);
      const label = labelFrom(bytes.toString('utf8', at + LENGTH_BYTES, labelEnd));
      at = labelEnd + bytesOf(labelHead);
      return { label, counts: unpackCounts(bytes.subarray(labelEnd, at)) };
    });
    yield { kind: (head & ADDRESS) === 0 ? 's' : 'a', id, state, slots };
  }
}
