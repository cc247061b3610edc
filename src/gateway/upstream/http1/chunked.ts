import { isField } from './response-head.js';

/** Maximum hex digits of a chunk size: at most 2^52 bytes, which a number holds exactly. */
const MAX_DIGITS = 13;
/** Limits for the extensions of one chunk, and for all trailer lines together. */
const MAX_EXTENSION_BYTES = 1024;
const MAX_TRAILER_BYTES = 16 * 1024;

const CR = 13;
const LF = 10;
const SEMICOLON = 59;

type State = 'size' | 'extension' | 'size-lf' | 'data' | 'data-cr' | 'data-lf' | 'trailer' | 'trailer-lf' | 'done';

/** Decodes a chunked body that arrives split at any point (RFC 9112 §7.1). Skips extensions and trailer. */
export class ChunkedReader {
  #state: State = 'size';
  /** The current chunk: bytes still to come, then the size digits and extension bytes read so far. */
  #size = 0;
  #digits = 0;
  #extension = 0;
  #line = '';
  #trailer = 0;

  get done(): boolean {
    return this.#state === 'done';
  }

  /**
   * @param bytes overwritten: chunk contents are moved together, because an upstream may send one byte per chunk
   * @param body receives the contents in one piece
   * @returns where it stopped: the end of `bytes` or of the body; -1 if malformed
   */
  read(bytes: Buffer, from: number, body: { onBody(piece: Buffer): void }): number {
    let at = from;
    let start = -1;
    let end = -1;
    while (at < bytes.length && this.#state !== 'done') {
      if (this.#state === 'data') {
        const next = Math.min(bytes.length, at + this.#size);
        this.#size -= next - at;
        if (this.#size === 0) this.#state = 'data-cr';
        if (start === -1) {
          start = at;
          end = next;
        } else {
          bytes.copyWithin(end, at, next);
          end += next - at;
        }
        at = next;
      } else {
        if (!this.#takeByte(bytes[at]!)) return -1;
        at += 1;
      }
    }
    if (start !== -1) body.onBody(bytes.subarray(start, end));
    return at;
  }

  /** Takes one byte of framing; returns false if it is not allowed there. */
  #takeByte(byte: number): boolean {
    switch (this.#state) {
      case 'size':
        return this.#takeSize(byte);
      case 'extension':
        return this.#takeExtension(byte);
      case 'size-lf':
        return this.#expect(byte, LF, this.#size === 0 ? 'trailer' : 'data');
      case 'data-cr':
        return this.#expect(byte, CR, 'data-lf');
      case 'data-lf':
        this.#digits = 0;
        this.#extension = 0;
        return this.#expect(byte, LF, 'size');
      case 'trailer':
        return this.#takeTrailer(byte);
      case 'trailer-lf':
        return this.#endLine(byte);
      case 'data':
      case 'done':
        return false;
    }
  }

  #takeSize(byte: number): boolean {
    const digit = hexDigit(byte);
    if (digit !== -1) {
      this.#size = this.#digits === 0 ? digit : this.#size * 16 + digit;
      this.#digits += 1;
      return this.#digits <= MAX_DIGITS;
    }
    if (this.#digits === 0) return false;
    return byte === SEMICOLON ? this.#expect(byte, SEMICOLON, 'extension') : this.#expect(byte, CR, 'size-lf');
  }

  #takeExtension(byte: number): boolean {
    this.#extension += 1;
    if (byte === CR) return this.#expect(byte, CR, 'size-lf');
    return isText(byte) && this.#extension <= MAX_EXTENSION_BYTES;
  }

  #takeTrailer(byte: number): boolean {
    this.#trailer += 1;
    if (byte === CR) return this.#expect(byte, CR, 'trailer-lf');
    this.#line += String.fromCharCode(byte);
    return isText(byte) && this.#trailer <= MAX_TRAILER_BYTES;
  }

  /** An empty line ends the body. */
  #endLine(byte: number): boolean {
    const line = this.#line;
    this.#line = '';
    return this.#expect(byte, LF, line === '' ? 'done' : 'trailer') && (line === '' || isField(line));
  }

  #expect(byte: number, expected: number, next: State): boolean {
    this.#state = next;
    return byte === expected;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

/** Visible, blank or beyond ASCII. */
function isText(byte: number): boolean {
  return byte === 9 || (byte >= 32 && byte !== 127);
}
