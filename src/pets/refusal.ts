import { STATUS_CODES } from 'node:http';

/** All error codes that a caller can get, with their status. */
const STATUS_OF = {
  invalid_body: 400,
  invalid_parameter: 400,
  malformed_request: 400,
  unauthorized: 401,
  not_found: 404,
  pet_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  body_too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  headers_too_large: 431,
  internal_error: 500,
  store_unavailable: 503,
} as const;

/** Maximum number of names quoted in one message. */
const LISTED = 5;

type RefusalCode = keyof typeof STATUS_OF;

/** A refused request; a value, not an exception. The message quotes input only through `shown`. */
export class Refusal {
  readonly code: RefusalCode;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: RefusalCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    this.code = code;
    this.message = message;
    this.headers = headers;
  }

  get status(): number {
    return STATUS_OF[this.code];
  }

  /** The Error body of the contract, section 2. */
  get body(): string {
    return JSON.stringify({ code: this.code, message: this.message, status: this.status });
  }
}

/** Returns the start of what the caller sent, quoted and in plain ASCII, for a message. */
export function shown(input: string): string {
  const short = input.length > 40 ? `${input.slice(0, 40)}...` : input;
  return `"${short.replace(/[^\x20-\x7e]|["\\]/gu, '?')}"`;
}

/** Quotes the first names, with the verb that follows: `"a" is`, `"a", "b" are`, `"a", … and 3 more are`. */
export function listed(names: readonly string[]): string {
  const some = names.slice(0, LISTED).map(shown).join(', ');
  const rest = names.length - LISTED;
  return `${some}${rest > 0 ? ` and ${rest} more` : ''} ${names.length === 1 ? 'is' : 'are'}`;
}

/** Returns a complete HTTP/1.1 response, for places that have a socket but no reply. */
export function rawAnswer({ status, body }: Refusal): string {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]!}\r\nContent-Type: application/json; charset=utf-8\r\n`;
  return `${head}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}
