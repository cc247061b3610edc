import type { SubjectState } from '../../decide.js';

/**
 * A subject's state as Redis keeps it: eight little-endian doubles (Lua `struct`, `<dddddddd`), in
 * this order: minute level and at, day level and at, strikes and since, banned until, ban level.
 * Binary, because formatting and reading eight numbers as text costs more than the decision.
 *
 * Windows beside minute and day stand in a field of their own, `windows`, of each its name, level and at: so no
 * field is longer than 64 bytes while there are few (admission/summary.ts), and a gateway of an earlier version
 * leaves them as they are.
 */
export const STATE_FORMAT = '<dddddddd';
export const STATE_BYTES = 64;
/** One window: length of its name, the name, level and at. */
export const WINDOW_FORMAT = '<Bc0dd';

export function readState(bytes: Buffer, offset: number): SubjectState {
  return {
    minute: { level: bytes.readDoubleLE(offset), atMs: bytes.readDoubleLE(offset + 8) },
    day: { level: bytes.readDoubleLE(offset + 16), atMs: bytes.readDoubleLE(offset + 24) },
    strikes: bytes.readDoubleLE(offset + 32),
    strikesSinceMs: bytes.readDoubleLE(offset + 40),
    bannedUntilMs: bytes.readDoubleLE(offset + 48),
    banLevel: bytes.readDoubleLE(offset + 56),
    more: null,
  };
}
