import { createHash } from 'node:crypto';

/** A Lua script and the name Redis keeps it under. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** Of the clock that every answer begins with. */
export const CLOCK_BYTES = 8;
/** Until when a script may run that does no harm when it comes late. */
export const ANY_TIME = '9000000000000000';

/**
 * What every script begins with.
 *
 * `#!lua` without flags lets Redis (7.0 or newer) refuse the whole script up front when it could not
 * write: out of memory, replica, failing disk. So no half decision can stay.
 *
 * ARGV[1] is the store time in ms until which the call may take effect. A call that was held up, in
 * a socket of a Redis that stood still, finds its caller gone and does nothing: it answers with the
 * clock alone. Every other answer is the clock (a double) followed by at least one byte.
 */
const PRELUDE = `#!lua
local call, floor, spread, pack, unpack = redis.call, math.floor, unpack, struct.pack, struct.unpack
local time = call('TIME')
local clock = time[1] * 1000 + floor(time[2] / 1000)
if clock > tonumber(ARGV[1]) then return pack('<d', clock) end
`;

/** The answer without the clock; undefined when it is the clock alone, for the call came too late and did nothing. */
export function doneIn(answer: Buffer): Buffer | undefined {
  return answer.length > CLOCK_BYTES ? answer.subarray(CLOCK_BYTES) : undefined;
}

export function scriptOf(body: string): Script {
  const text = PRELUDE + body;
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}
