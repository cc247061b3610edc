import type { BucketState } from '../../../bucket.js';
import type { SubjectState } from '../../../decide.js';

/** A stored state: eight doubles, little-endian. Of windows beside minute and day, `packedWindows` follow. */
export const STATE_BYTES = 64;

/** Of each window: its name, with a byte of length, level and moment. Earlier versions read over them. */
const WINDOW_BYTES = 17;

export function unpackState(bytes: Buffer): SubjectState {
  const state = readState(viewOf(bytes), bytes.byteOffset);
  if (bytes.length > STATE_BYTES) state.more = unpackWindows(bytes.subarray(STATE_BYTES, bytes.length));
  return state;
}

export function packState(state: SubjectState): Buffer {
  const windows = state.more === null ? null : packedWindows(state.more);
  const bytes = Buffer.allocUnsafe(STATE_BYTES + (windows?.length ?? 0));
  writeState(state, viewOf(bytes), bytes.byteOffset);
  windows?.copy(bytes, STATE_BYTES);
  return bytes;
}

export function packedWindows(windows: ReadonlyMap<string, BucketState>): Buffer {
  const names = [...windows.keys()].map((name) => Buffer.from(name));
  const bytes = Buffer.allocUnsafe(names.reduce((sum, { length }) => sum + WINDOW_BYTES + length, 0));
  let at = 0;
  [...windows.values()].forEach(({ level, atMs }, place) => {
    const name = names[place]!;
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

export function readState(view: DataView, at: number): SubjectState {
  return {
    minute: { level: view.getFloat64(at, true), atMs: view.getFloat64(at + 8, true) },
    day: { level: view.getFloat64(at + 16, true), atMs: view.getFloat64(at + 24, true) },
    strikes: view.getFloat64(at + 32, true),
    strikesSinceMs: view.getFloat64(at + 40, true),
    bannedUntilMs: view.getFloat64(at + 48, true),
    banLevel: view.getFloat64(at + 56, true),
    more: null,
  };
}

export function writeState(state: SubjectState, view: DataView, at: number): void {
  view.setFloat64(at, state.minute.level, true);
  view.setFloat64(at + 8, state.minute.atMs, true);
  view.setFloat64(at + 16, state.day.level, true);
  view.setFloat64(at + 24, state.day.atMs, true);
  view.setFloat64(at + 32, state.strikes, true);
  view.setFloat64(at + 40, state.strikesSinceMs, true);
  view.setFloat64(at + 48, state.bannedUntilMs, true);
  view.setFloat64(at + 56, state.banLevel, true);
}

/** A state of its own, which may be changed without that being remembered. */
export function copyOfState(state: SubjectState): SubjectState {
  const more = state.more === null ? null : new Map([...state.more].map(([name, bucket]) => [name, { ...bucket }]));
  return { ...state, minute: { ...state.minute }, day: { ...state.day }, more };
}

/** A view of the memory that `bytes` is cut from. The last one mostly serves again. */
export function viewOf(bytes: Buffer): DataView {
  if (view.buffer !== bytes.buffer) view = new DataView(bytes.buffer);
  return view;
}
let view = new DataView<ArrayBufferLike>(new ArrayBuffer(STATE_BYTES));
