import type { ServerResponse } from 'node:http';
import t from 'tap';
import { ownCertificate } from '../servers/certificate.js';
import { exchangeRaw, openLine } from '../servers/raw.js';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { request, startFront } from './front.js';

/** Whoever hears nothing for so long knocked at a dead door. */
const DEAD_MS = 8_000;

/**
 * The attack is our own: a deployment. Requests under way must be answered, those on their way must
 * find a closed door and not a dead one, and nobody may hold the process up.
 */
for (const [workers, over] of [
  [1, 'plain HTTP'],
  [1, 'TLS'],
  [2, 'plain HTTP'],
  [2, 'TLS'],
] as const) {
  t.test(
    `SIGTERM with ${workers} process(es) serving ${over}: what is under way is answered, then the process ends with 0`,
    async (t) => {
      const upstream = await startUpstream(t);
      const front = await startFront(t, upstream.url, {
        ...(over === 'TLS' ? { tls: ownCertificate(t) } : {}),
        // What is under way is not cut by a machine that is slow to find the door closed.
        config: { workers, shutdown: '60s' },
      });
      const held: ServerResponse[] = [];
      upstream.handle = (_seen, response) => void held.push(response);
      const underWay = Array.from({ length: 4 }, () => exchangeRaw(front.target, request('GET /v1/pets', front.key)));
      const [idle, silent] = [openLine(t, front.target, request('OPTIONS *')), openLine(t, front.target, '')];
      await until('four are under way and one is idle', () => held.length === 4 && idle.answers().length === 1);

      const stopped = front.gateway.program.stop('SIGTERM');
      await until('idle and silent connections are closed', () => idle.isClosed() && silent.isClosed());
      const unheard: string[] = [];
      await until('no new one is taken', () =>
        exchangeRaw(front.target, request('OPTIONS *'), 1, DEAD_MS).then(
          () => false,
          (error: unknown) => {
            if (String(error).includes('no end of answers')) unheard.push(String(error));
            return true;
          },
        ),
      );
      // Node's cluster keeps a connection that it hands to its last worker as that closes, until the process ends
      // (RoundRobinHandle.distribute after remove).
      t.ok(unheard.length <= (workers === 1 ? 0 : 1), `the door is closed, and not dead: ${unheard.join()}`);
      for (const response of held) response.end('[]');
      for (const answers of await Promise.all(underWay)) {
        t.same(
          answers.map(({ status, headers }) => [status, headers.get('connection')]),
          [[200, 'close']],
          'answered, and told that it was the last',
        );
      }
      await stopped;
      t.same(await front.gateway.program.exited, { code: 0, signal: null });
      // The knocks at the door are OPTIONS too, and of two processes one may be open a moment longer.
      t.equal(
        front.gateway.program.lines().filter(({ msg, method }) => msg === 'exchange' && method === 'GET').length,
        4,
        'every exchange is in the log',
      );
    },
  );
}

/** The attack: a request that never ends keeps the process from ending. */
t.test('SIGTERM with a request that does not end: cut at the deadline, and still 0', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, { config: { shutdown: '500ms' } });
  upstream.handle = () => undefined;
  const stuck = exchangeRaw(front.target, request('GET /v1/pets', front.key)).catch(() => []);
  openLine(t, front.target, 'GET /v1/pets HTTP/1.1\r\nHost');
  await until('it is under way', () => upstream.seen.length === 1);
  const startMs = performance.now();
  await front.gateway.program.stop('SIGTERM');
  const tookMs = performance.now() - startMs;
  t.same(await front.gateway.program.exited, { code: 0, signal: null });
  t.ok(tookMs >= 450 && tookMs < 10_000, `after ${tookMs.toFixed(0)} ms`);
  t.same(await stuck, []);
});
