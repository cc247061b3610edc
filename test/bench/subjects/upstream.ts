import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createSecureServer } from 'node:tls';

/**
 * The upstream of all subjects, in a process of its own: reads no more of HTTP than it must, so that it
 * takes little of the machine from what is measured. Answers a short list, or as many bytes as
 * `?limit=` says when that is more than a page, or with what the response cost where `?as=` says.
 */
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const CHUNKED = /\r\ntransfer-encoding: *chunked/i;
const LIMIT = /^\S+ \S*[?&]limit=(\d+)/;
const AS = /^\S+ \S*[?&]as=(header|json|stream)/;
const LARGEST_PAGE = 1000;

const list = JSON.stringify(
  [1, 2, 3, 4].map((id) => ({ id, name: `pet number ${id}`, categoryId: 7, status: 'available' })),
);
const answers = new Map<number, Buffer>();

function answerOf(bytes: number): Buffer {
  const known = answers.get(bytes);
  if (known !== undefined) return known;
  const body = bytes > LARGEST_PAGE ? 'x'.repeat(bytes) : list;
  const answer = Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  answers.set(bytes, answer);
  return answer;
}

const usage = '"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}';
const events = Array.from({ length: 20 }, (_, n) =>
  n < 19 ? `data: {"id":"x","choices":[{"delta":{"content":"word ${n}"}}]}\n\n` : `data: {"id":"x",${usage}}\n\n`,
);
const head = (type: string, bytes: number): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nX-Usage-Units: 12\r\nContent-Length: ${bytes}\r\n\r\n`;
const completion = `{"id":"x","choices":[{"message":{"content":"${'word '.repeat(80)}"}}],${usage}}`;
/** The pieces of responses that say what they cost. */
const COSTING: Readonly<Record<string, readonly string[]>> = {
  header: [head('application/json', list.length) + list],
  json: [head('application/json', completion.length) + completion],
  stream: [head('text/event-stream', events.join('').length), ...events],
};

/** Each in a turn of its own, as they are written. */
function writeInTurns(socket: Socket, [piece, ...rest]: readonly string[]): void {
  if (piece === undefined) return;
  socket.write(piece);
  setImmediate(() => writeInTurns(socket, rest));
}

/** Where the first request of `text` ends; 0: it has not come whole. */
function endOf(text: string): number {
  const head = text.indexOf('\r\n\r\n');
  if (head === -1) return 0;
  const fields = text.slice(0, head);
  const length = LENGTH.exec(fields)?.[1];
  if (length !== undefined) return text.length >= head + 4 + Number(length) ? head + 4 + Number(length) : 0;
  if (!CHUNKED.test(fields)) return head + 4;
  const last = text.indexOf('\r\n0\r\n\r\n', head + 2);
  return last === -1 ? 0 : last + 7;
}

function serve(socket: Socket): void {
  let received = '';
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    received += text;
    for (let end = endOf(received); end > 0; end = endOf(received)) {
      const pieces = COSTING[AS.exec(received)?.[1] ?? ''];
      if (pieces === undefined) socket.write(answerOf(Number(LIMIT.exec(received)?.[1] ?? 0)));
      else writeInTurns(socket, pieces);
      received = received.slice(end);
    }
  });
  // A gateway under test may cut a connection.
  socket.on('error', () => socket.destroy());
}

const { TLS_CERT, TLS_KEY = '' } = process.env;
const server =
  TLS_CERT === undefined
    ? createServer({ noDelay: true }, serve)
    : createSecureServer({ noDelay: true, cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }, serve);
server.listen(0, '127.0.0.1', 4096, () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
