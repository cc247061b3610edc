import { connectionOptions, remembered } from '../../edge/fields.js';
import type { Unreadable } from '../../refusals/reasons.js';

/** Limits for the head of a response. */
export interface ResponseLimits {
  readonly headBytes: number;
  readonly fields: number;
}
export const USUAL_LIMITS: ResponseLimits = { headBytes: 16 * 1024, fields: 256 };

const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
/** Not allowed in a field (RFC 9110 §5.5). CR and LF are checked at the line ends. */
const CONTROL = /[^\t\r\n\x20-\x7e\x80-\xff]/;
const STATUS = /^[1-9]\d\d$/;
const DIGITS = /^\d{1,15}$/;
const SPACE = 32;
const TAB = 9;
const CR = 13;

/** A response head, with what it says about the body and the connection (RFC 9112 §6.3). */
export interface ResponseHead {
  readonly status: number;
  /** Flat, names in lower case, in the order received. */
  readonly fields: string[];
  /** Content-Length in bytes; -1 if there is none. */
  length: number;
  chunked: boolean;
  /** Minor version: the x of HTTP/1.x. */
  readonly minor: number;
  /** Whether the connection may be kept for another request. */
  keepAlive: boolean;
  /** How long the server keeps it open while idle, ms; 0 if it closes it, Infinity if it does not say. */
  keepAliveMs: number;
}

/** Returns the field name in lower case; empty if it is not valid. */
const fieldName = remembered((name) => (TOKEN.test(name) ? name.toLowerCase() : ''));

/** Returns the `timeout` of a Keep-Alive field in ms; Infinity if it has none. */
const timeoutMs = remembered((value) => 1000 * Number(/(?:^|[\s,])timeout=(\d{1,6})/i.exec(value)?.[1] ?? Infinity));

/**
 * Parses status line and fields. Strict, because a reader that parses them differently would find the next response
 * elsewhere: lines end in CRLF and are not folded, there is at most one length, and the only coding is chunked.
 * @returns the reason if it is malformed
 */
export function parseHead(text: string, maxFields: number): ResponseHead | Unreadable {
  const head = parseStatusLine(text);
  if (head === null) return 'not_http';
  if (CONTROL.test(text)) return 'field_invalid';
  let at = lineEnd(text, 0);
  while (at !== text.length - 2) {
    const next = at === -1 ? -1 : lineEnd(text, at + 2);
    if (next === -1) return 'line_end_invalid';
    if (head.fields.length >= 2 * maxFields) return 'too_many_fields';
    const problem = parseField(head, text, at + 2, next);
    if (problem !== null) return problem;
    at = next;
  }
  // HTTP/1.0 has no transfer codings: such framing cannot be trusted (RFC 9112 §6.1).
  return head.chunked && head.minor === 0 ? 'transfer_encoding_invalid' : head;
}

/** Whether a trailer line is a field (RFC 9112 §7.1.2): trailers are ignored, but must be valid. */
export function isField(line: string): boolean {
  const colon = line.indexOf(':');
  return colon !== -1 && fieldName(line.slice(0, colon)) !== '' && !CONTROL.test(line);
}

function parseStatusLine(text: string): ResponseHead | null {
  const minor = text.charCodeAt(7) - 48;
  const status = text.slice(9, 12);
  const after = text.charCodeAt(12);
  if (!text.startsWith('HTTP/1.') || (minor !== 0 && minor !== 1) || text.charCodeAt(8) !== SPACE) return null;
  if (!STATUS.test(status) || (after !== SPACE && after !== CR)) return null;
  return {
    status: Number(status),
    fields: [],
    length: -1,
    chunked: false,
    minor,
    keepAlive: minor === 1,
    keepAliveMs: Infinity,
  };
}

/** Returns where the line that begins at `from` ends with CRLF; -1 if it ends with anything else. */
function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\r', from);
  return text.indexOf('\n', from) === end + 1 ? end : -1;
}

function parseField(head: ResponseHead, text: string, from: number, to: number): Unreadable | null {
  const colon = text.indexOf(':', from);
  if (colon === -1 || colon >= to) return 'field_invalid';
  const name = fieldName(text.slice(from, colon));
  if (name === '') return 'field_invalid';
  const value = trimmed(text, colon + 1, to);
  head.fields.push(name, value);
  switch (name) {
    case 'content-length':
      return takeLength(head, value);
    case 'transfer-encoding':
      return takeCoding(head, value);
    case 'connection':
      takeOptions(head, value);
      return null;
    case 'keep-alive':
      head.keepAliveMs = Math.min(head.keepAliveMs, timeoutMs(value));
      return null;
    default:
      return null;
  }
}

/** Returns the value without surrounding blanks (RFC 9110 §5.6.3). */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

function takeLength(head: ResponseHead, value: string): Unreadable | null {
  if (head.length !== -1) return 'content_length_twice';
  if (head.chunked) return 'length_and_encoding';
  if (!DIGITS.test(value)) return 'content_length_invalid';
  head.length = Number(value);
  return null;
}

function takeCoding(head: ResponseHead, value: string): Unreadable | null {
  if (head.length !== -1) return 'length_and_encoding';
  if (head.chunked || value.toLowerCase() !== 'chunked') return 'transfer_encoding_invalid';
  head.chunked = true;
  return null;
}

/** `close` wins over any other option (RFC 9112 §9.3). */
function takeOptions(head: ResponseHead, value: string): void {
  if (value === 'keep-alive') head.keepAlive = true;
  else {
    const options = connectionOptions(value);
    if (options.includes('close')) head.keepAliveMs = 0;
    if (options.includes('keep-alive')) head.keepAlive = true;
  }
}
