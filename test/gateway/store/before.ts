import { readState, STATE_BYTES, viewOf } from '../../../src/gateway/store/state.js';

/** A state as versions before wrote it: eight doubles, and no month. */
export function stateBefore(bytes: Buffer): Buffer {
  const { minute, day, strikes, strikesSinceMs, bannedUntilMs, banLevel } = readState(viewOf(bytes), bytes.byteOffset);
  const before = Buffer.from(bytes);
  const numbers = [minute.level, minute.atMs, day.level, day.atMs, strikes, strikesSinceMs, bannedUntilMs, banLevel];
  numbers.forEach((number, place) => before.writeDoubleLE(number, place * (STATE_BYTES / numbers.length)));
  return before;
}
