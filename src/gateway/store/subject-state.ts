import type { BucketState } from '../admission/bucket.js';
import type { SubjectState } from '../admission/decide.js';
import { readState, STATE_BYTES, viewOf, writeState } from './state.js';

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
