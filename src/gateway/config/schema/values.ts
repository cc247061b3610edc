import { isIP } from 'node:net';
import { z } from 'zod';
import { DURATION, parseBytes, parseDurationMs, SIZE } from './quantity.js';

/** One more wait than setTimeout can hold would fire at once; no time limit comes near it. */
export const LONGEST = '24h';

/** A whole number from `least` to `max`; `or` names what else may stand there. */
export function whole(least: number, max: number, or = ''): z.ZodInt {
  const error = wholeError(least, max, or);
  return z.int({ error }).min(least, error).max(max, error);
}

export function wholeError(least: number, max: number, or = ''): string {
  return `must be a whole number from ${least} to ${max}${or}`;
}

/** `5s` → 5000, from `least` to `max` (durations themselves). */
export function duration(least: string, max: string) {
  const error = `must be a duration with its unit (ms, s, m, h, d) from ${least} to ${max}`;
  const [leastMs, maxMs] = [parseDurationMs(least)!, parseDurationMs(max)!];
  const inRange = (text: string): boolean => between(parseDurationMs(text), leastMs, maxMs);
  return z
    .string({ error })
    .regex(DURATION, { error, abort: true })
    .refine(inRange, error)
    .transform((text) => parseDurationMs(text)!);
}

/** `1MiB` → 1048576, from `least` to `max` (sizes themselves). */
export function size(least: string, max: string) {
  const error = `must be a size with its unit (B, KiB, MiB, GiB, TiB) from ${least} to ${max}`;
  const [leastBytes, maxBytes] = [parseBytes(least)!, parseBytes(max)!];
  const inRange = (text: string): boolean => between(parseBytes(text), leastBytes, maxBytes);
  return z
    .string({ error })
    .regex(SIZE, { error, abort: true })
    .refine(inRange, error)
    .transform((text) => parseBytes(text)!);
}

function between(value: number | undefined, least: number, max: number): boolean {
  return value !== undefined && value >= least && value <= max;
}

/** A mapping whose keys are known; `error` says so when something else stands there. */
export function mapping<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'invalid_type' ? `must be a mapping of ${Object.keys(shape).join(', ')}` : undefined,
  });
}

/** @param error the message for anything else */
export function text(error: string, pattern: RegExp) {
  return z.string({ error }).regex(pattern, error);
}

/** One of a few words. */
export const choice = <const Words extends readonly [string, ...string[]]>(...words: Words) =>
  z.enum(words, { error: `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}` });

export const bool = z.boolean({ error: 'must be true or false' });

export const share = z
  .number({ error: 'must be a number from 0 to 1' })
  .min(0, 'must be a number from 0 to 1')
  .max(1, 'must be a number from 0 to 1');

export const network = z
  .string({ error: 'must be an address or a block' })
  .refine(isNetwork, 'must be an address or a block such as 10.0.0.0/8 or fd00::/8');

function isNetwork(given: string): boolean {
  const [address = '', bits, ...rest] = given.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^[0-9]{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
