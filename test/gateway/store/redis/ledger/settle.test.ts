import t from 'tap';
import { createReporter } from '../../../../../src/gateway/store/settlements.js';
import { DAY_MS, dayOf } from '../../../../../src/shared/utc-day.js';
import { newKey, rowsOf } from '../../../../conformance/cast.js';
import { redisEngineFor } from '../../../../conformance/redis-engine.js';

const DAYS = 30;
const STARTS = 4;

t.test('what is remembered of credits ends with their day, however long a key has failures', async (t) => {
  const { redis: server, engine } = await redisEngineFor(t);
  const { id } = await newKey(engine, 'free');
  const today = Math.floor(Date.now() / DAY_MS);
  for (let day = today - DAYS + 1; day <= today; day += 1)
    for (let start = 0; start < STARTS; start += 1) {
      const reports = createReporter()([
        { keyId: id, plan: 'free', operation: 'listPets', admittedAtMs: day * DAY_MS, isFailed: true },
      ]);
      await engine.settle(reports);
      await engine.settle(reports);
    }
  const names = (await server.command('KEYS', `petgate:{${id}}:credits*`)) as string[];
  const lengths = await Promise.all(names.map((name) => server.command('HLEN', name)));
  t.same(lengths, new Array(DAYS).fill(STARTS), 'one hash a day, with a field for each process that counted then');
  for (const name of names) t.ok(Number(await server.command('PTTL', name)) > DAY_MS, 'and an end');
  const rows = await rowsOf(engine, dayOf((today - DAYS + 1) * DAY_MS), dayOf(today * DAY_MS), id);
  t.same(
    rows.map(({ failed }) => failed),
    new Array(DAYS).fill(STARTS),
    'each failure report is counted once',
  );
});
