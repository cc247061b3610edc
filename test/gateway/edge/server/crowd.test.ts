import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import type { Test } from 'tap';
import { Crowd } from '../../../../src/gateway/edge/server/crowd.js';
import { listen } from '../../../servers/listen.js';
import { until } from '../../../servers/until.js';

const LIMIT = 100;
/** One in a hundred is kept free. */
const FULL = 99;

/** A listener whose connections make the crowd; `open` gives its side of a new connection from an address. */
async function stage(t: Test): Promise<{ busy: Set<Socket>; open: (from: string) => Promise<Socket> }> {
  const busy = new Set<Socket>();
  const crowd = new Crowd((socket) => busy.has(socket));
  const server = createServer();
  const { port } = await listen(t, server);
  const clients: Socket[] = [];
  t.teardown(() => {
    for (const client of clients) client.destroy();
  });
  const open = async (from: string): Promise<Socket> => {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    clients.push(connect({ port, host: '127.0.0.1', localAddress: from }).on('error', () => undefined));
    const [socket] = await accepted;
    crowd.add(socket, LIMIT);
    return socket;
  };
  return { busy, open };
}

t.test('near the limit the address with most connections loses its oldest idle one', async (t) => {
  const { busy, open } = await stage(t);
  const many: Socket[] = [];
  for (let n = 0; n < FULL - 1; n += 1) many.push(await open('127.0.0.1'));
  busy.add(many[0]!);
  const other = await open('127.0.0.2');
  t.notOk(
    many.some(({ destroyed }) => destroyed),
    'nobody loses one before',
  );
  const another = await open('127.0.0.2');
  await until('one is closed', () => many[1]!.destroyed);
  t.notOk(many[0]!.destroyed, 'not one that is busy');
  t.strictSame([other.destroyed, another.destroyed], [false, false]);
  t.equal(many.filter(({ destroyed }) => destroyed).length, 1);
});

t.test('where all connections of that address are busy nobody loses one', async (t) => {
  const { busy, open } = await stage(t);
  const many: Socket[] = [];
  for (let n = 0; n < FULL; n += 1) many.push(await open('127.0.0.1'));
  for (const socket of many) busy.add(socket);
  const other = await open('127.0.0.2');
  t.notOk([...many, other].some(({ destroyed }) => destroyed));
});
