import { dial } from './dial.js';
import type { Target } from './dial.js';

/** One answer as it stood on the wire. */
export interface RawAnswer {
  readonly status: number;
  /** By lower-case name; several fields of a name joined by a comma. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Writes bytes to a port and gives every answer until the server closes, or `answers` came. */
export function exchangeRaw(target: Target, bytes: string | Buffer, answers = Infinity, withinMs = 10_000): Promise<readonly RawAnswer[]> {
  return new Promise((resolve, reject) => {
    const socket = dial(target);
    let text = '';
    const finish = (): void => {
      clearTimeout(deadline);
      socket.destroy();
      resolve(parseAnswers(text));
    };
    const deadline = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no end of answers within ${withinMs} ms; so far: ${text}`));
    }, withinMs);
    socket.setEncoding('latin1');
    socket.write(bytes);
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (parseAnswers(text).length >= answers) finish();
    });
    socket.on('end', finish);
    socket.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(deadline);
      if (text === '') reject(error);
      else finish();
    });
  });
}

/** The complete answers at the start of `text`; interim (1xx) ones are left out. */
export function parseAnswers(text: string): readonly RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) return answers;
    const [first = '', ...fields] = rest.slice(0, end).split('\r\n');
    const headers = new Map<string, string>();
    for (const field of fields) {
      const name = field.slice(0, field.indexOf(':')).toLowerCase();
      const value = field.slice(field.indexOf(':') + 1).trim();
      headers.set(name, headers.has(name) ? `${headers.get(name)!}, ${value}` : value);
    }
    const status = Number(first.split(' ')[1]);
    const body = bodyOf(rest.slice(end + 4), headers, status);
    if (body === null) return answers;
    if (status >= 200) answers.push({ status, headers, body: body.text });
    rest = rest.slice(end + 4 + body.length);
  }
}

function bodyOf(rest: string, headers: ReadonlyMap<string, string>, status: number): { text: string; length: number } | null {
  if (status < 200 || status === 204 || status === 304) return { text: '', length: 0 };
  if (headers.get('transfer-encoding') === 'chunked') return chunkedBody(rest);
  const length = Number(headers.get('content-length') ?? 0);
  return rest.length < length ? null : { text: rest.slice(0, length), length };
}

function chunkedBody(rest: string): { text: string; length: number } | null {
  let text = '';
  let at = 0;
  for (;;) {
    const lineEnd = rest.indexOf('\r\n', at);
    if (lineEnd === -1) return null;
    const size = Number.parseInt(rest.slice(at, lineEnd), 16);
    at = lineEnd + 2;
    if (rest.length < at + size + 2) return null;
    text += rest.slice(at, at + size);
    at += size + 2;
    if (size === 0) return { text, length: at };
  }
}
