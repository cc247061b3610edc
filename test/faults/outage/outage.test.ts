import t from 'tap';
import { checkHonest } from '../../answers/honest.js';
import { IN_TIME_MS } from '../../servers/in-time.js';
import { until } from '../../servers/until.js';
import { openClient } from '../../e2e/client.js';
import { ledgerOf } from '../../e2e/ledger.js';
import { createKey, EACH, fleetOf } from '../fleet.js';
import { kindOf, startLoad } from '../load.js';

/** What these tests are about; test/faults/outage/failover.test.ts has the other. */
const REFUSING = { config: { store: { on_failure: 'refuse' } } };
t.test(
  'two gateways whose Redis freezes, dies and comes back answer in time, admit nothing twice, and recover',
  async (t) => {
    const { redis, start, upstream } = await fleetOf(t);
    const gateways = await Promise.all([start(REFUSING), start(REFUSING)]);
    const { id, key } = await createKey(gateways[0], 'roomy');
    const clients = gateways.map(({ url }) => openClient(t, url, EACH));
    const load = startLoad(t, clients, key, EACH);

    /** Requests whose fate the gateway could not know: sent to Redis, and no answer came. */
    let unknown = 0;
    const admittedAnew = async (what: string): Promise<void> => {
      const before = load.count('200');
      await until(`requests are admitted ${what}`, () => load.count('200') > before + 50);
    };
    const refusedAnew = async (what: string): Promise<void> => {
      const before = load.count('store_unavailable');
      await until(`requests are refused ${what}`, () => load.count('store_unavailable') > before + 50);
    };

    await admittedAnew('before anything happened');
    for (let round = 1; round <= 2; round += 1) {
      unknown += load.inFlight();
      redis.freeze();
      await refusedAnew('while Redis is frozen');
      redis.thaw();
      await admittedAnew('after Redis thawed');
      unknown += load.inFlight();
      await redis.kill();
      await refusedAnew('while Redis is dead');
      await redis.restart();
      await admittedAnew('after Redis came back');
    }
    await load.stop();

    t.same([...load.tally.keys()].sort(), ['200', 'store_unavailable'], 'every answer was 200 or an honest 503');
    t.ok(load.slowestMs() < IN_TIME_MS, 'no answer took long', { slowestMs: load.slowestMs() });
    const admitted = load.count('200');
    const { requests, failed } = await ledgerOf(gateways[1], id);
    t.equal(upstream.seen.length, admitted, 'what was forwarded was answered');
    t.ok(
      requests - failed >= admitted && requests - failed <= admitted + unknown,
      'the ledger has every admitted request, and none that was not asked',
      { ledger: requests, failed, admitted, unknown },
    );
    t.comment(
      `${admitted} admitted, ledger ${requests}, ${load.count('store_unavailable')} × 503, slowest ` +
        `${Math.round(load.slowestMs())} ms`,
    );
  },
);

t.test('an outage gives nobody more than the plan', async (t) => {
  const { redis, start } = await fleetOf(t);
  const gateway = await start(REFUSING);
  const client = openClient(t, gateway.url, EACH);
  const { id, key } = await createKey(gateway, 'narrow');
  const load = startLoad(t, [client], key, EACH);
  await until('a part of the day is spent', () => load.count('200') > 60);
  await redis.kill();
  const before = load.count('store_unavailable');
  await until('requests are refused', () => load.count('store_unavailable') > before + 50);
  await redis.restart();
  await until('the day is spent', () => load.count('rate_limited') > 50);
  await load.stop();
  const { requests } = await ledgerOf(gateway, id);
  t.equal(requests, 200, 'the ledger says the limit');
  t.ok(load.count('200') <= 200 && load.count('200') >= 200 - EACH, 'and no more were admitted', {
    admitted: load.count('200'),
  });
  t.same([...load.tally.keys()].sort(), ['200', 'rate_limited', 'store_unavailable']);
});

t.test('a gateway that starts while Redis is down refuses honestly, and serves once it is there', async (t) => {
  const { redis, start } = await fleetOf(t);
  const first = await start(REFUSING);
  const { key } = await createKey(first, 'roomy');
  await first.program.stop();
  await redis.kill();

  const gateway = await start(REFUSING);
  const client = openClient(t, gateway.url, 1);
  for (const [who, credential] of [
    ['a key', key],
    ['a key again', key],
    ['nobody', null],
  ] as const) {
    const beganMs = performance.now();
    const answer = await client.send(credential);
    t.equal(kindOf(answer), 'store_unavailable', `${who}: refused`);
    t.ok(performance.now() - beganMs < IN_TIME_MS, `${who}: in time`);
    checkHonest(t, answer, who);
  }
  t.equal((await fetch(`${gateway.adminUrl}/readyz`)).status, 503, 'it says that it is not ready');
  t.equal((await fetch(`${gateway.adminUrl}/livez`)).status, 200, 'though it lives');

  await redis.restart();
  await until('it serves', async () => (await client.send(key)).status === 200);
  await until('it is ready', async () => (await fetch(`${gateway.adminUrl}/readyz`)).status === 200);
});
