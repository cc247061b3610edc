import { connect } from 'node:net';
import t from 'tap';
import { scrape } from '../servers/exposition.js';
import { until } from '../servers/until.js';
import { request, startFront } from './front.js';
import { startRawUpstream } from './raw-upstream.js';

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n';
const ANSWERS = 60;
/** Less than is held of an answer until it is whole. */
const BYTES = 60_000;
const LINE = `${'x'.repeat(79)}\n`;
const LINES = 150_000;

/**
 * The attack: an upstream sends each byte in a chunk of its own, and what is kept for it is a hundred times as much.
 */
t.test('answers in chunks of one byte take what their bytes do', async (t) => {
  const upstream = await startRawUpstream(t);
  upstream.handle = (socket) => void socket.write(HEAD + '1\r\nx\r\n'.repeat(BYTES));
  const front = await startFront(t, upstream.url, { config: { limits: { caller_share: 1 } } });
  const bytes = async (): Promise<number> =>
    (await scrape(front.gateway.adminUrl)).value('petgate_process_resident_memory_bytes');
  const before = await bytes();
  const clients = Array.from({ length: ANSWERS }, () => {
    const client = connect(front.port, '127.0.0.1').on('error', () => undefined);
    client.write(request('GET /v1/pets', front.key));
    t.teardown(() => client.destroy());
    return client;
  });
  await until(
    'all of each answer but its end was read',
    () =>
      upstream.heads.length === ANSWERS && [...upstream.sockets].every(({ writableLength }) => writableLength === 0),
  );
  const grown = (await bytes()) - before;
  t.ok(grown < 100 * 2 ** 20, `${(grown / 2 ** 20).toFixed(0)} MiB for ${ANSWERS} answers of ${BYTES} bytes`);
  let text = '';
  clients[0]!.setEncoding('latin1').on('data', (piece: string) => (text += piece));
  for (const socket of upstream.sockets) socket.write('0\r\n\r\n');
  await until('it has its answer', () => text.endsWith('0\r\n\r\n') && text.split('x').length > BYTES);
});

/** The accident: an honest upstream that writes line by line, and a client that reads more slowly. */
t.test('lines to a client that reads later: it gets them all, and the upstream waits', async (t) => {
  const upstream = await startRawUpstream(t);
  const lines = `${LINE.length.toString(16)}\r\n${LINE}\r\n`.repeat(LINES);
  upstream.handle = (socket) => void socket.write(`${HEAD}${lines}0\r\n\r\n`);
  const front = await startFront(t, upstream.url, { pets: { deadline: '1m' } });
  const client = connect(front.port, '127.0.0.1');
  t.teardown(() => client.destroy());
  client.pause().write(request('GET /v1/pets', front.key, 'Connection: close'));
  await until('the upstream is asked', () => upstream.heads.length === 1);
  await until('it has to wait', () => [...upstream.sockets].some(({ writableLength }) => writableLength > 0));
  const pieces: Buffer[] = [];
  client.on('data', (piece: Buffer) => pieces.push(piece)).resume();
  await until('the answer ended', () => client.readableEnded);
  const text = Buffer.concat(pieces).toString('latin1');
  t.equal(text.split('x'.repeat(20)).length - 1 >= LINES, true, 'every line came');
  t.ok(text.endsWith('0\r\n\r\n'));
  t.notMatch(front.gateway.program.output(), /Warning/);
});
