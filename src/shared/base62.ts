import { randomBytes } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 1 at the char codes of BASE62. A table lookup, unlike a regular expression, cannot backtrack. */
const IS_BASE62 = new Uint8Array(128);
for (let index = 0; index < BASE62.length; index += 1) IS_BASE62[BASE62.charCodeAt(index)] = 1;

/** Returns whether `text` from `start` on is base62 only. */
export function isBase62From(text: string, start: number): boolean {
  for (let index = start; index < text.length; index += 1) {
    // Codes above 127 are outside the table: undefined.
    if (IS_BASE62[text.charCodeAt(index)] !== 1) return false;
  }
  return true;
}

/** Returns `length` random base62 characters, each equally likely: bytes of 248 (4 × 62) and above are discarded. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < 248 && text.length < length) text += BASE62.charAt(byte % 62);
    }
  }
  return text;
}

/** Returns the last `length` base62 digits of `value`, padded with `0` on the left. */
export function encodeBase62(value: number, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = BASE62.charAt(rest % 62) + text;
  return text;
}
