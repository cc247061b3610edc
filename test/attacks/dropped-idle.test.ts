import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { ledgerOf } from '../e2e/ledger.js';
import { listen } from '../servers/listen.js';
import { exchangeRaw } from '../servers/raw.js';
import { request, startFront } from './front.js';
import { OK } from './raw-upstream.js';

const CLIENTS = 32;
const POSTS = 3000;
const IDLE_MS = 20;

/**
 * The accident: an upstream that ends idle connections after a moment, as many do when they restart or are short of
 * them. It reads on behind its end, so that every request that crossed it can be told from those that were never sent.
 */
t.test('an upstream that drops idle connections: 502 only for what crossed the end of one', async (t) => {
  let [crossed, taken] = [0, 0];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let idle: NodeJS.Timeout | undefined;
    socket.on('data', () => {
      clearTimeout(idle);
      if (socket.writableEnded) crossed += 1;
      else {
        taken += 1;
        socket.write(OK);
        idle = setTimeout(() => socket.end(), IDLE_MS);
      }
    });
    socket.on('end', () => socket.end());
  });
  const { port } = await listen(t, server);
  const front = await startFront(t, `http://127.0.0.1:${port}`, { pets: { breaker: 'off' } });
  const asked = `${request('POST /v1/pets', front.key, 'Content-Length: 2', 'Content-Type: application/json')}{}`;
  let left = POSTS;
  const statuses: number[] = [];
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, which) => {
      while (left > 0) {
        left -= 1;
        const [answer] = await exchangeRaw(front.target, asked, 1);
        statuses.push(answer!.status);
        await sleep((which + statuses.length) % (2 * IDLE_MS));
      }
    }),
  );
  const failed = statuses.filter((status) => status !== 200).length;
  t.equal(failed, crossed, `${failed} of ${statuses.length} failed, ${crossed} crossed the end of their connection`);
  t.equal(taken, statuses.length - failed, 'each other one was answered');
  t.equal((await ledgerOf(front.gateway, front.keyId)).failed, failed, 'billing credits each');
});
