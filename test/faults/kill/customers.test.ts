import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Test } from 'tap';
import { openClient } from '../../e2e/client.js';
import { createCustomer, report } from '../../e2e/customer.js';
import { startLoad } from '../load.js';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { NO_BAN } from '../../servers/plans.js';
import { temporaryFolder } from '../../servers/program.js';
import { redisFor } from '../../servers/redis.js';
import { until } from '../../servers/until.js';
import { startUpstream } from '../../servers/upstream.js';

const KEYS = 10;
/** For all that a customer may ask, on a machine that does other things too. */
const PATIENCE_MS = 150_000;
const DAY_MS = 86_400_000;
const NEAR_MIDNIGHT_MS = 60_000;
/** Of the customer whose gateways are killed, a day. */
const MOST = 5_000;

const PLANS = {
  bounded: { limits: { minute: 1_000_000, day: MOST }, ban: NO_BAN },
  anonymous: { limits: { minute: 300, day: 10_000 }, ban: NO_BAN },
};

/** One of the gateways is killed again and again while all keys ask, until the customer has nothing left. */
async function survive(t: Test, environment: Readonly<Record<string, string>>, others: number): Promise<void> {
  const upstream = await startUpstream(t);
  const config = {
    log: { access: false },
    store: { deadline: '10s' },
    upstreams: { pets: { addresses: [upstream.url] } },
  };
  const start = (dataFolder: string): Promise<Gateway> =>
    startGateway(t, { plans: PLANS, config, environment, dataFolder });
  // A day that turns in the middle would rightly give a second bucket.
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < NEAR_MIDNIGHT_MS) await sleep(leftMs + 100);
  const folder = temporaryFolder(t);
  const staying = await Promise.all(Array.from({ length: others }, () => start(temporaryFolder(t))));
  let mortal = await start(folder);
  const customer = await createCustomer(mortal, 'bounded', KEYS);
  let [answered, inFlight] = [0, 0];
  for (const killAt of [500, 1_500, 2_500, Infinity]) {
    const clients = [mortal, ...staying].map(({ url }) => openClient(t, url, KEYS));
    const loads = customer.keys.map(({ key }) => startLoad(t, clients, key, 1));
    const count = (kind: string): number => loads.reduce((sum, load) => sum + load.count(kind), 0);
    const isEnough = (): boolean =>
      answered + count('200') > killAt || loads.every((load) => load.count('rate_limited') > 0);
    await until(`${killAt} are admitted, or all there are`, isEnough, PATIENCE_MS);
    if (killAt !== Infinity) await mortal.program.stop('SIGKILL');
    await Promise.all(loads.map((load) => load.stop()));
    await Promise.all(clients.map((client) => client.close()));
    answered += count('200');
    if (killAt === Infinity) continue;
    // What was under way when it died, and nothing else, may have been counted without an answer.
    inFlight += KEYS;
    mortal = await start(folder);
    const bill = (await report(mortal, 'customer')).find((row) => row.customer === customer.id);
    const facts = { ledger: bill?.requests, answered, inFlight };
    t.ok(bill !== undefined && bill.requests >= answered && bill.requests <= answered + inFlight, 'ledger', facts);
  }
  const rows = await report(mortal, 'customer');
  t.equal(rows.find((row) => row.customer === customer.id)?.requests, MOST, 'not one more and not one less');
  t.ok(answered <= MOST && answered >= MOST - inFlight, 'all but what was under way was answered', {
    answered,
    inFlight,
  });
  const last = openClient(t, mortal.url, 1);
  t.equal((await last.send(customer.keys[0]!.key)).status, 429);
}

t.test('kill -9 in the middle of a customer: embedded', (t) => survive(t, {}, 0));

t.test('kill -9 in the middle of a customer: one of two gateways on Redis', async (t) => {
  const redis = await redisFor(t);
  await survive(t, { REDIS_URL: redis.url }, 1);
});
