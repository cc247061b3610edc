import type { SubjectState } from '../../../decide.js';

/** A stored state: eight doubles, little-endian. */
export const STATE_BYTES = 64;

export function unpackState(bytes: Buffer): SubjectState {
  return readState(viewOf(bytes), bytes.byteOffset);
}

export function packState(state: SubjectState): Buffer {
  const bytes = Buffer.allocUnsafe(STATE_BYTES);
  writeState(state, viewOf(bytes), bytes.byteOffset);
  return bytes;
}

export function readState(view: DataView, at: number): SubjectState {
  return {
    minute: { level: view.getFloat64(at, true), atMs: view.getFloat64(at + 8, true) },
    day: { level: view.getFloat64(at + 16, true), atMs: view.getFloat64(at + 24, true) },
    strikes: view.getFloat64(at + 32, true),
    strikesSinceMs: view.getFloat64(at + 40, true),
    bannedUntilMs: view.getFloat64(at + 48, true),
    banLevel: view.getFloat64(at + 56, true),
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
  return { ...state, minute: { ...state.minute }, day: { ...state.day } };
}

/** A view of the memory that `bytes` is cut from. The last one mostly serves again. */
export function viewOf(bytes: Buffer): DataView {
  if (view.buffer !== bytes.buffer) view = new DataView(bytes.buffer);
  return view;
}
let view = new DataView<ArrayBufferLike>(new ArrayBuffer(STATE_BYTES));
