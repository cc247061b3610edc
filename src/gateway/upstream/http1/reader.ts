import { ChunkedReader } from './chunked.js';
import { parseHead, USUAL_LIMITS, type ResponseHead, type ResponseLimits } from './response-head.js';
import type { Unreadable } from '../../refusals/reasons.js';

/** Maximum interim heads before the final one. */
const MAX_INTERIM = 32;
/** Most heads fit into this many bytes; more is decoded only for those that do not. */
const USUAL_HEAD_BYTES = 1024;

/** A line that ends in anything but CRLF. */
const BARE = /\r[^\n]|(?:^|[^\r])\n/;

/** `malformed`: not a response, or only part of one. `surplus`: complete, but followed by unsolicited bytes. */
export type Progress = 'more' | 'done' | 'surplus' | 'malformed';

interface ResponseParts {
  onHead(head: ResponseHead): void;
  onBody(piece: Buffer): void;
}

/** What follows: a head, a body of known length, chunks, a body that ends with the connection, or nothing. */
type Expected = 'head' | 'length' | 'chunks' | 'close' | 'nothing';

/**
 * Reads the responses on one connection, one at a time, split at any point (RFC 9112). Skips interim responses; never
 * takes bytes after the end of a response for the next one.
 */
export class ResponseReader {
  readonly #parts: ResponseParts;
  readonly #limits: ResponseLimits;
  #expected: Expected = 'nothing';
  #isHead = false;
  #interim = 0;
  #text = '';
  #remaining = 0;
  #chunks: ChunkedReader | null = null;
  /** Why the response is malformed. */
  unreadable: Unreadable = 'not_http';

  constructor(parts: ResponseParts, limits: ResponseLimits = USUAL_LIMITS) {
    this.#parts = parts;
    this.#limits = limits;
  }

  expect(method: string): void {
    this.#expected = 'head';
    this.#isHead = method === 'HEAD';
    this.#interim = 0;
    this.#text = '';
  }

  read(bytes: Buffer): Progress {
    let at = 0;
    while (this.#expected === 'head') {
      const end = this.#readHead(bytes, at);
      if (end === -1) return 'malformed';
      at = end;
      if (at === bytes.length) break;
    }
    if (at < bytes.length) at = this.#readBody(bytes, at);
    if (at === -1) return this.#malformed('chunk_invalid');
    if (this.#expected !== 'nothing') return 'more';
    return at < bytes.length ? 'surplus' : 'done';
  }

  get isInBody(): boolean {
    return this.#expected !== 'head' && this.#expected !== 'nothing';
  }

  finish(): Progress {
    return this.#expected === 'close' ? 'done' : 'malformed';
  }

  /** @returns where the body begins; `bytes.length` if the head continues; -1 if it is malformed */
  #readHead(bytes: Buffer, from: number): number {
    const before = this.#text.length;
    let text = this.#text + bytes.toString('latin1', from, Math.min(bytes.length, from + USUAL_HEAD_BYTES));
    let end = text.indexOf('\r\n\r\n', Math.max(0, before - 3));
    if (end === -1 && bytes.length - from > USUAL_HEAD_BYTES) {
      text = this.#text + bytes.toString('latin1', from, Math.min(bytes.length, from + this.#limits.headBytes));
      end = text.indexOf('\r\n\r\n', Math.max(0, before - 3));
    }
    if (end === -1) {
      this.#text = text;
      const problem = text.length >= this.#limits.headBytes ? 'head_too_large' : beginProblem(text);
      if (problem === null) return bytes.length;
      this.unreadable = problem;
      return -1;
    }
    this.#text = '';
    const problem = end + 4 > this.#limits.headBytes ? 'head_too_large' : this.#takeHead(text.slice(0, end + 2));
    if (problem !== null) {
      this.unreadable = problem;
      return -1;
    }
    return from + end + 4 - before;
  }

  #malformed(why: Unreadable): Progress {
    this.unreadable = why;
    return 'malformed';
  }

  #takeHead(text: string): Unreadable | null {
    const head = parseHead(text, this.#limits.fields);
    if (typeof head === 'string') return head;
    // An unsolicited protocol switch ends HTTP on this connection.
    if (head.status === 101) return 'protocol_switched';
    if (head.status < 200) {
      this.#interim += 1;
      return this.#interim <= MAX_INTERIM ? null : 'too_many_interim';
    }
    const { status, chunked, length } = head;
    if (this.#isHead || status === 204 || status === 304 || length === 0) this.#expected = 'nothing';
    else if (chunked) {
      this.#expected = 'chunks';
      this.#chunks = new ChunkedReader();
    } else if (length > 0) {
      this.#expected = 'length';
      this.#remaining = length;
    } else {
      this.#expected = 'close';
      head.keepAliveMs = 0;
    }
    this.#parts.onHead(head);
    return null;
  }

  /** @returns where it stopped: the end of the bytes or of the body; -1 if it is malformed */
  #readBody(bytes: Buffer, from: number): number {
    switch (this.#expected) {
      case 'length':
        return this.#readLength(bytes, from);
      case 'chunks':
        return this.#readChunks(bytes, from);
      case 'close':
        this.#parts.onBody(from === 0 ? bytes : bytes.subarray(from));
        return bytes.length;
      case 'head':
      case 'nothing':
        return from;
    }
  }

  #readLength(bytes: Buffer, from: number): number {
    const end = Math.min(bytes.length, from + this.#remaining);
    this.#remaining -= end - from;
    if (this.#remaining === 0) this.#expected = 'nothing';
    this.#parts.onBody(from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end));
    return end;
  }

  #readChunks(bytes: Buffer, from: number): number {
    const chunks = this.#chunks!;
    const end = chunks.read(bytes, from, this.#parts);
    if (chunks.done) this.#expected = 'nothing';
    return end;
  }
}

/** Returns why this cannot become a valid head, so that nobody waits for its remainder; null if it can. */
function beginProblem(text: string): Unreadable | null {
  if (!'HTTP/1.'.startsWith(text.slice(0, 7))) return 'not_http';
  return BARE.test(text) ? 'line_end_invalid' : null;
}
