import { DAY_MS, type BucketState } from '../admission/bucket.js';
import type { SubjectState } from '../admission/decide.js';

/**
 * A subject's state as the stores keep it, little-endian, with these offsets:
 *
 *      0  level and time of the minute window, then of the day window: four doubles
 *     32  strikes, then level of the ban: three bytes each
 *     38  STATE_MARK: two bytes
 *     40  time of the first strike, then end of the ban: two doubles
 *     56  units spent this month, then number of the day on which the month began: four bytes each
 *
 * Earlier versions stored no month, and strikes (at 32) and ban level (at 56) as doubles. At the mark's offset they
 * have the high bytes of a small number, which differ from the mark.
 */
export const STATE_BYTES = 64;
export const STATE_MARK = 0x8001;

export function readState(view: DataView, at: number): SubjectState {
  const isMarked = view.getUint16(at + 38, true) === STATE_MARK;
  return {
    minute: { level: view.getFloat64(at, true), atMs: view.getFloat64(at + 8, true) },
    day: { level: view.getFloat64(at + 16, true), atMs: view.getFloat64(at + 24, true) },
    month: isMarked
      ? { level: view.getUint32(at + 56, true), atMs: view.getUint32(at + 60, true) * DAY_MS }
      : { level: 0, atMs: 0 },
    strikes: isMarked ? threeBytes(view, at + 32) : view.getFloat64(at + 32, true),
    strikesSinceMs: view.getFloat64(at + 40, true),
    bannedUntilMs: view.getFloat64(at + 48, true),
    banLevel: isMarked ? threeBytes(view, at + 35) : view.getFloat64(at + 56, true),
    operationWindows: null,
  };
}

export function writeState(state: SubjectState, view: DataView, at: number): void {
  view.setFloat64(at, state.minute.level, true);
  view.setFloat64(at + 8, state.minute.atMs, true);
  view.setFloat64(at + 16, state.day.level, true);
  view.setFloat64(at + 24, state.day.atMs, true);
  // Each write also sets a fourth byte, which the next one overwrites.
  view.setUint32(at + 32, state.strikes, true);
  view.setUint32(at + 35, state.banLevel, true);
  view.setUint16(at + 38, STATE_MARK, true);
  view.setFloat64(at + 40, state.strikesSinceMs, true);
  view.setFloat64(at + 48, state.bannedUntilMs, true);
  view.setUint32(at + 56, state.month.level, true);
  view.setUint32(at + 60, state.month.atMs / DAY_MS, true);
}

function threeBytes(view: DataView, at: number): number {
  return view.getUint32(at, true) & 0xffffff;
}

/** Returns a view of the whole memory behind `bytes`: add `byteOffset`. Reuses the last view if possible. */
export function viewOf(bytes: Buffer): DataView {
  if (view.buffer !== bytes.buffer) view = new DataView(bytes.buffer);
  return view;
}
let view = new DataView<ArrayBufferLike>(new ArrayBuffer(STATE_BYTES));

/** Bytes of a window in addition to its name: the name's length, level and time. */
const WINDOW_BYTES = 17;

/** Reads a stored state, and the `packedWindows` behind it if there are any. */
export function unpackState(bytes: Buffer): SubjectState {
  const state = readState(viewOf(bytes), bytes.byteOffset);
  if (bytes.length > STATE_BYTES) state.operationWindows = unpackWindows(bytes.subarray(STATE_BYTES, bytes.length));
  return state;
}

export function packState(state: SubjectState): Buffer {
  const windows = state.operationWindows === null ? null : packedWindows(state.operationWindows);
  const bytes = Buffer.allocUnsafe(STATE_BYTES + (windows?.length ?? 0));
  writeState(state, viewOf(bytes), bytes.byteOffset);
  windows?.copy(bytes, STATE_BYTES);
  return bytes;
}

export function packedWindows(windows: ReadonlyMap<string, BucketState>): Buffer {
  const names = [...windows.keys()].map((name) => Buffer.from(name));
  const bytes = Buffer.allocUnsafe(names.reduce((sum, { length }) => sum + WINDOW_BYTES + length, 0));
  let at = 0;
  [...windows.values()].forEach(({ level, atMs }, index) => {
    const name = names[index]!;
    at = bytes.writeUInt8(name.length, at);
    at += name.copy(bytes, at);
    at = bytes.writeDoubleLE(level, at);
    at = bytes.writeDoubleLE(atMs, at);
  });
  return bytes;
}

export function unpackWindows(bytes: Buffer): Map<string, BucketState> {
  const windows = new Map<string, BucketState>();
  for (let at = 0; at < bytes.length;) {
    const nameEnd = at + 1 + bytes.readUInt8(at);
    const name = bytes.toString('utf8', at + 1, nameEnd);
    at = nameEnd + WINDOW_BYTES - 1;
    windows.set(name, { level: bytes.readDoubleLE(nameEnd), atMs: bytes.readDoubleLE(nameEnd + 8) });
  }
  return windows;
}

/** Returns a copy that can be changed without being stored. */
export function copyOfState(state: SubjectState): SubjectState {
  const { minute, day, month, operationWindows: windows } = state;
  const operationWindows =
    windows === null ? null : new Map([...windows].map(([name, bucket]) => [name, { ...bucket }]));
  return { ...state, minute: { ...minute }, day: { ...day }, month: { ...month }, operationWindows };
}

/**
 * Returns the state for a customer's key: the customer's buckets, with the key's strikes and ban. The buckets are
 * shared objects, so spending from them changes the customer.
 */
export function merged(key: SubjectState, customer: SubjectState): SubjectState {
  const { strikes, strikesSinceMs, bannedUntilMs, banLevel } = key;
  const { minute, day, month, operationWindows } = customer;
  return { minute, day, month, strikes, strikesSinceMs, bannedUntilMs, banLevel, operationWindows };
}

/** Copies back what is not shared: the key's strikes and ban, and the customer's map of operation windows. */
export function split(state: SubjectState, key: SubjectState, customer: SubjectState): void {
  customer.operationWindows = state.operationWindows;
  key.strikes = state.strikes;
  key.strikesSinceMs = state.strikesSinceMs;
  key.bannedUntilMs = state.bannedUntilMs;
  key.banLevel = state.banLevel;
}
