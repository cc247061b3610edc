import t from 'tap';
import type { FailoverEngine } from '../../../../src/gateway/store/outage/engine.js';
import { custom, dayName, newKey, rowsOf, type Actor } from '../../../conformance/cast.js';
import { until } from '../../../servers/until.js';
import { durableRedis, learnt, openGateway, outageBegins, outageEnds, unavailable } from './fixture.js';

const DAY_MS = 86_400_000;
const LIMIT = 5;

/** On whatever clock the engine goes by. */
const ask = async (engine: FailoverEngine, { subject }: Actor): Promise<string | undefined> =>
  (await engine.admit([{ subject, operation: 'listPets', scope: null, cost: 1 }]))[0]?.outcome;

t.test("during an outage a gateway whose clock is a day ahead goes by the store's", async (t) => {
  const { now } = Date;
  t.teardown(() => (Date.now = now));
  Date.now = () => now() + DAY_MS;
  const server = await durableRedis(t);
  const first = openGateway(t, server);
  const [spent, other] = [
    await newKey(first.engine, 'enterprise', custom('unlimited', LIMIT)),
    await newKey(first.engine, 'enterprise', custom('unlimited', LIMIT)),
  ];
  for (let n = 0; n < LIMIT; n += 1) t.equal(await ask(first.engine, spent), 'admitted');
  t.equal(await ask(first.engine, other), 'admitted');
  await learnt(first.engine, spent, other);
  // Its clock is noted before it reports.
  await until('it has reported', async () => (await server.command('HLEN', 'petgate:gateways:days')) === 1);
  await outageBegins(server, first.engine);
  t.equal(await ask(first.engine, spent), 'limited', 'a day that is spent stays spent');
  t.equal(await ask(first.engine, other), 'admitted');
  await first.engine.close();

  const again = openGateway(t, server, { folder: first.folder });
  await unavailable(again.engine);
  t.equal(await ask(again.engine, other), 'admitted', 'also one that starts meanwhile');
  await outageEnds(server, again.engine);
  const today = dayName(now());
  for (const [{ id }, requests] of [[spent, LIMIT] as const, [other, 3] as const]) {
    const rows = await rowsOf(again.engine, dayName(now() - DAY_MS), dayName(now() + 2 * DAY_MS), id);
    t.match(rows, [{ day: today, requests }], 'all of it is of one day');
    t.equal(rows.length, 1);
  }
});
