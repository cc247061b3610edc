import type { UsageCounts } from '../../port.js';
import type { SubjectState } from '../../decide.js';

/**
 * Names of rows, one letter for the kind. A part never holds the separator (ids and operations are
 * plain words), which sorts below all of them: rows of one kind stand in the order of their parts.
 */
export const SEPARATOR = '\u001f';
/** Sorts above any part. */
export const AFTER_ALL = '\uffff';

export const stateRow = (keyId: string): string => `s${keyId}`;
/** Known to `recent` only: an address starts afresh after the machine restarts. */
export const addressRow = (address: string): string => `a${address}`;
export const recordRow = (keyId: string): string => `k${keyId}`;
export const historyRow = (keyId: string, version: number): string => `h${keyId}${SEPARATOR}${String(version).padStart(12, '0')}`;
/** Names of the rows that one transaction changed, waiting for the checkpoint. */
export const journalRow = (transaction: number): string => `j${String(transaction).padStart(16, '0')}`;
export const usageRow = (day: string, keyId: string, plan: string, operation: string): string =>
  `u${day}${SEPARATOR}${keyId}${SEPARATOR}${plan}${SEPARATOR}${operation}`;

/** `2026-11-21`, the UTC day of `atMs`. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

export type Counts = { -readonly [field in keyof UsageCounts]: UsageCounts[field] };

const STATE_BYTES = 64;
const COUNTS_BYTES = 32;
const scratch = new DataView(new ArrayBuffer(STATE_BYTES));
const stateBytes = Buffer.from(scratch.buffer);
const countsBytes = Buffer.from(scratch.buffer, 0, COUNTS_BYTES);

/** Eight doubles, in a buffer that the next pack overwrites: to be written at once. */
export function packState(state: SubjectState): Buffer {
  scratch.setFloat64(0, state.minute.level, true);
  scratch.setFloat64(8, state.minute.atMs, true);
  scratch.setFloat64(16, state.day.level, true);
  scratch.setFloat64(24, state.day.atMs, true);
  scratch.setFloat64(32, state.strikes, true);
  scratch.setFloat64(40, state.strikesSinceMs, true);
  scratch.setFloat64(48, state.bannedUntilMs, true);
  scratch.setFloat64(56, state.banLevel, true);
  return stateBytes;
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

/** Four doubles, in a buffer that the next pack overwrites. */
export function packCounts(counts: UsageCounts): Buffer {
  scratch.setFloat64(0, counts.requests, true);
  scratch.setFloat64(8, counts.limited, true);
  scratch.setFloat64(16, counts.banned, true);
  scratch.setFloat64(24, counts.failed, true);
  return countsBytes;
}

export function unpackCounts(bytes: Buffer): Counts {
  const view = viewOf(bytes);
  const at = bytes.byteOffset;
  return {
    requests: view.getFloat64(at, true),
    limited: view.getFloat64(at + 8, true),
    banned: view.getFloat64(at + 16, true),
    failed: view.getFloat64(at + 24, true),
  };
}

// lmdb answers reads from one reused buffer, so that the view of it can be reused as well.
let view: DataView = scratch;
function viewOf(bytes: Buffer): DataView {
  if (view.buffer !== bytes.buffer) view = new DataView(bytes.buffer);
  return view;
}
