import t from 'tap';
import { makeToken } from '../../../src/gateway/accounts/token.js';
import { checkHonest } from '../../answers/honest.js';
import type { Gateway } from '../../servers/gateway.js';
import { IN_TIME_MS } from '../../servers/in-time.js';
import { until } from '../../servers/until.js';
import { openClient } from '../../e2e/client.js';
import { learnt } from '../copies.js';
import { away, createKey, EACH, figure, fleetOf, ledgerIs } from '../fleet.js';
import { ledgerOf } from '../../e2e/ledger.js';
import { kindOf, startLoad } from '../load.js';

t.test(
  'two gateways go on under load while Redis freezes, dies and comes back; the ledger has every request they admitted',
  async (t) => {
    const { redis, start } = await fleetOf(t);
    const gateways = await Promise.all([start(), start({ config: { workers: 2 } })]);
    const { id, key } = await createKey(gateways[0], 'roomy');
    const clients = gateways.map(({ url }) => openClient(t, url, EACH));
    const load = startLoad(t, clients, key, EACH);
    await Promise.all(gateways.map((gateway) => learnt(gateway, [id])));

    /** Requests whose fate the gateway could not know: sent to Redis, and no answer came. */
    let unknown = 0;
    const admittedAnew = async (what: string): Promise<void> => {
      const before = load.count('200');
      await until(`requests are admitted ${what}`, () => load.count('200') > before + 100);
    };
    const decidedByRedis = (): Promise<void> =>
      until('Redis decides again', async () =>
        (await Promise.all(gateways.map((gateway) => figure(gateway, 'petgate_store_degraded')))).every(
          (value) => value === 0,
        ),
      );
    await admittedAnew('before anything happened');
    for (let round = 1; round <= 2; round += 1) {
      unknown += load.inFlight();
      redis.freeze();
      await away(...gateways);
      await admittedAnew('while Redis is frozen');
      redis.thaw();
      await decidedByRedis();
      await admittedAnew('after Redis thawed');
      unknown += load.inFlight();
      await redis.kill();
      await away(...gateways);
      await admittedAnew('while Redis is dead');
      await redis.restart();
      await decidedByRedis();
      await admittedAnew('after Redis came back');
    }
    await load.stop();

    const admitted = load.count('200');
    t.ok(load.slowestMs() < IN_TIME_MS, 'no answer took long', { slowestMs: load.slowestMs() });
    t.ok(load.count('store_unavailable') <= unknown * 2, 'refused were only those under way when Redis went', {
      refused: load.count('store_unavailable'),
      unknown,
    });
    t.strictSame(
      [...load.tally.keys()].filter((kind) => kind !== '200' && kind !== 'store_unavailable'),
      [],
      'and nothing else was said',
    );
    await until('everything is replayed', async () => (await ledgerOf(gateways[0], id)).requests >= admitted);
    for (const gateway of gateways)
      await until('nothing waits', async () => (await figure(gateway, 'petgate_spool_requests')) === 0);
    const { requests } = await ledgerOf(gateways[1], id);
    t.ok(
      requests >= admitted && requests <= admitted + unknown,
      'the ledger has every admitted request, and none that was not asked',
      { ledger: requests, admitted, unknown },
    );
    t.comment(
      `${admitted} admitted, ledger ${requests}, ${load.count('store_unavailable')} × 503, slowest ` +
        `${Math.round(load.slowestMs())} ms`,
    );
  },
);

t.test('while Redis is unavailable each of two gateways admits at most half of a limit', async (t) => {
  const { redis, start } = await fleetOf(t);
  const gateways = await Promise.all([start(), start({ config: { workers: 2 } })]);
  const { id, key } = await createKey(gateways[0], 'narrow');
  const clients = gateways.map(({ url }) => openClient(t, url, EACH));
  let admitted = 0;
  for (const client of clients) if ((await client.send(key)).status === 200) admitted += 1;
  for (const gateway of gateways) {
    await learnt(gateway, [id]);
    await until('it sees the other', async () => (await figure(gateway, 'petgate_failover_gateways')) === 2);
  }
  await redis.kill();
  // Who is asked notices, and tells the others what it saw of the key; own usage costs no token.
  await until('both decide by themselves', async () => {
    await Promise.all(
      clients.flatMap((client) => Array.from({ length: EACH }, () => client.send(key, { path: '/v1/usage' }))),
    );
    return gateways.every((gateway) => awayProcesses(gateway) === 1);
  });
  for (const [n, client] of clients.entries()) {
    const answers = await Promise.all(Array.from({ length: 150 }, () => client.send(key)));
    const passed = answers.filter(({ status }) => status === 200).length;
    t.ok(passed <= 100 && passed >= 98, `gateway ${n} admits its share`, { passed });
    const refused = answers.find(({ status }) => status === 429)!;
    checkHonest(t, refused, 'limited by the share');
    t.equal(refused.headers.get('x-ratelimit-limit'), '100', 'the share is shown');
    admitted += passed;
  }
  t.ok(admitted <= 200, 'together not more than the limit', { admitted });
  await redis.restart();
  await ledgerIs(gateways[0], id, admitted, 'the ledger is what was admitted, with workers too', t);
  await until('Redis decides', async () => (await clients[0]!.send(key)).headers.get('x-ratelimit-limit') === '200');
});

t.test('a gateway that never met a key is not ready while Redis is down, and is so when it is back', async (t) => {
  const { redis, start } = await fleetOf(t);
  await redis.kill();
  const gateway = await start();
  const readyz = async (): Promise<Response> => fetch(`${gateway.adminUrl}/readyz`);
  await until('it says why', async () => {
    const answer = await readyz();
    return answer.status === 503 && /knows no keys yet/.test(await answer.text());
  });
  const answer = await openClient(t, gateway.url, 1).send(null);
  t.equal(kindOf(answer), 'missing_api_key', 'but it listens, and answers honestly');
  checkHonest(t, answer, 'nobody');
  await redis.restart();
  await until('it is ready', async () => (await readyz()).status === 200);
});

t.test('a gateway that starts while Redis is down serves the keys it knows, and says what it is', async (t) => {
  const { redis, start } = await fleetOf(t);
  const first = await start();
  const [known, unknown] = [await createKey(first, 'roomy'), await createKey(first, 'roomy')];
  const before = openClient(t, first.url, 1);
  await until('it serves', async () => (await before.send(known.key)).status === 200);
  await learnt(first, [known.id]);
  await first.program.stop();
  await redis.kill();

  const gateway = await start({ dataFolder: first.dataFolder });
  const client = openClient(t, gateway.url, 1);
  t.equal((await client.send(known.key)).status, 200);
  for (const [who, credential, code] of [
    ['a key it never saw', unknown.key, 'store_unavailable'],
    ['a secret made meanwhile', makeToken('development', known.id).token, 'store_unavailable'],
    ['a mistyped key', `${known.key.slice(0, -1)}${known.key.endsWith('0') ? '1' : '0'}`, 'invalid_api_key'],
    ['nobody', null, 'missing_api_key'],
  ] as const) {
    const answer = await client.send(credential);
    t.equal(kindOf(answer), code, who);
    checkHonest(t, answer, who);
  }
  const usage = await client.send(known.key, { path: '/v1/usage' });
  t.match(JSON.parse(usage.body), { today: { requests: 1 } }, 'its own usage is what was counted here');
  const ready = await fetch(`${gateway.adminUrl}/readyz`);
  t.equal(ready.status, 200);
  t.match(await ready.json(), {
    ready: true,
    parts: { store: { ok: true, degraded: true, detail: /ECONNREFUSED.*1\/1 of each limit/ } },
  });
  t.match(
    [await figure(gateway, 'petgate_store_degraded'), await figure(gateway, 'petgate_failover_gateways')],
    [1, 1],
  );
  await until('what waits is counted', async () => (await figure(gateway, 'petgate_spool_requests')) === 1);
  t.equal(
    (await gateway.admin('POST', '/admin/v1/keys', { plan: 'roomy', name: 'x' })).status,
    503,
    'keys are made only in Redis',
  );
  t.match(
    await gateway.program.logged('Redis is unavailable: this gateway decides by itself, from its share of each limit'),
    {
      level: 'warn',
      gateways: 1,
    },
  );

  await redis.restart();
  t.match(await gateway.program.logged('Redis decides again; what was counted here is in its ledger'), {
    level: 'info',
    replayed: { requests: 1 },
  });
  await ledgerIs(gateway, known.id, 2, 'the ledger has both', t);
  t.match(await (await fetch(`${gateway.adminUrl}/readyz`)).json(), {
    parts: { store: { ok: true, detail: 'redis' } },
  });
});

/**
 * How many processes of a gateway say that Redis is unavailable, and not since that it is back: a stall on a busy
 * machine may have come before.
 */
function awayProcesses(gateway: Gateway): number {
  const isUnavailable = new Map<unknown, boolean>();
  for (const { pid, msg } of gateway.program.lines()) {
    if (/^Redis (?:is unavailable|decides again)/.test(String(msg)))
      isUnavailable.set(pid, String(msg).startsWith('Redis is unavailable'));
  }
  return [...isUnavailable.values()].filter(Boolean).length;
}
