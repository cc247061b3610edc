import { isIP } from 'node:net';
import { z } from 'zod';
import { suggestion } from '../../../shared/names/nearest.js';
import { DURATION, parseBytes, parseDurationMs, SIZE } from './quantity.js';

/** One more wait than setTimeout can hold would fire at once; no time limit comes near it. */
export const LONGEST = '24h';

/** Longer ones stream too, but numbers end somewhere. */
export const LARGEST_BODY = '100TiB';

/** A whole number from `least` to `max`; `or` names what else may stand there. */
export function whole(least: number, max: number, or = ''): z.ZodInt {
  const error = wholeError(least, max, or);
  return z.int({ error }).min(least, error).max(max, error);
}

export function wholeError(least: number, max: number, or = ''): string {
  return `must be a whole number from ${least} to ${max}${or}`;
}

/** `5s` → 5000, from `least` to `max` (durations themselves). */
export const duration = (least: string, max: string) =>
  quantity(DURATION, parseDurationMs, `must be a duration with its unit (ms, s, m, h, d)`, least, max);

/** `1MiB` → 1048576, from `least` to `max` (sizes themselves). */
export const size = (least: string, max: string) =>
  quantity(SIZE, parseBytes, `must be a size with its unit (B, KiB, MiB, GiB, TiB)`, least, max);

function quantity(form: RegExp, parse: (text: string) => number | undefined, what: string, least: string, max: string) {
  const error = `${what} from ${least} to ${max}`;
  const inRange = (value = Number.NaN): boolean => value >= parse(least)! && value <= parse(max)!;
  return z
    .string({ error })
    .regex(form, { error, abort: true })
    .refine((text) => inRange(parse(text)), error)
    .transform((text) => parse(text)!);
}

/** A mapping whose keys are known. @param error when something else stands there; of unknown keys it has a line each */
export function mapping<T extends z.ZodRawShape>(
  shape: T,
  error = `must be a mapping of ${Object.keys(shape).join(', ')}`,
) {
  const unknown = (key: string): string => `unknown key; ${suggestion(key, Object.keys(shape))}`;
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? issue.keys.map(unknown).join('\n') : error),
  });
}

/** @param error the message for anything else */
export function text(error: string, pattern: RegExp) {
  return z.string({ error }).regex(pattern, error);
}

export const path = text('must be a path', /^[^\0]+$/);

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
