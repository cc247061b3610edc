import { isIP } from 'node:net';
import { z } from 'zod';
import { DAY_MS } from '../../../shared/utc-day.js';
import { suggestion } from '../../../shared/names/nearest.js';
import { DURATION, parseBytes, parseDurationMs, SIZE, type Days } from './quantity.js';

/** Settings do not change. */
export type Immutable<T> = T extends string | number | boolean ? T : { readonly [Name in keyof T]: Immutable<T[Name]> };

/** The longest time limit. setTimeout fires immediately for more than about 24.8 days; this stays far below. */
export const LONGEST = '24h';

/** Larger bodies could be streamed too, but a size needs an upper bound. */
export const LARGEST_BODY = '100TiB';

/** Accepts a whole number from `least` to `max`; `or` is added to the error message, such as `, or auto`. */
export function whole(least: number, max: number, or = ''): z.ZodInt {
  const error = wholeError(least, max, or);
  return z.int({ error }).min(least, error).max(max, error);
}

export function wholeError(least: number, max: number, or = ''): string {
  return `must be a whole number from ${least} to ${max}${or}`;
}

/** Accepts a duration from `least` to `max`, which are durations too: `5s` becomes 5000 ms. */
export const duration = (least: string, max: string) =>
  quantity(DURATION, parseDurationMs, `must be a duration with its unit (ms, s, m, h, d)`, least, max);

/** Accepts a duration of whole days: `400d` becomes 400. @param example for the error message */
export const days = (least: string, max: string, example: string) =>
  duration(least, max)
    .refine((ms) => ms % DAY_MS === 0, `must be whole days, such as ${example}`)
    .transform((ms): Days => ms / DAY_MS);

/** Accepts a size from `least` to `max`, which are sizes too: `1MiB` becomes 1048576 bytes. */
export const size = (least: string, max: string) =>
  quantity(SIZE, parseBytes, `must be a size with its unit (B, KiB, MiB, GiB, TiB)`, least, max);

function quantity<Unit extends number>(
  form: RegExp,
  parse: (text: string) => Unit | undefined,
  what: string,
  least: string,
  max: string,
) {
  const error = `${what} from ${least} to ${max}`;
  const inRange = (value: number = Number.NaN): boolean => value >= parse(least)! && value <= parse(max)!;
  return z
    .string({ error })
    .regex(form, { error, abort: true })
    .refine((text) => inRange(parse(text)), error)
    .transform((text) => parse(text)!);
}

/**
 * Accepts a mapping with known keys only. @param error message for anything that is not a mapping; each unknown key
 * gets its own message
 */
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
  return z.string({ error }).regex(pattern, { error, abort: true });
}

export const path = text('must be a path', /^[^\0]+$/);

export const choice = <const Words extends readonly [string, ...string[]]>(...words: Words) =>
  z.enum(words, { error: `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}` });

export const bool = z.boolean({ error: 'must be true or false' });

/** Accepts `auto`, or a whole number from `least` to `max`. */
export const wholeOrAuto = (least: number, max: number) =>
  z.union([z.literal('auto'), whole(least, max, ', or auto')], { error: wholeError(least, max, ', or auto') });

/** Accepts a number from `least` to `max`, whole or not. */
export function amount(least: number, max: number): z.ZodNumber {
  const error = `must be a number from ${least} to ${max}`;
  return z.number({ error }).min(least, error).max(max, error);
}

export const share = amount(0, 1);

export const network = z
  .string({ error: 'must be an address or a block' })
  .refine(isNetwork, 'must be an address or a block such as 10.0.0.0/8 or fd00::/8');

function isNetwork(given: string): boolean {
  const [address = '', bits, ...rest] = given.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^[0-9]{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
