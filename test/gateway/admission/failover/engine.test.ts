import t from 'tap';
import { ask, askMany, count, custom, limited, newKey, standing } from '../../../conformance/cast.js';
import { until } from '../../../servers/until.js';
import { away, back, durableRedis, learnt, ledgerOf, openGateway } from './fixture.js';

const now = (): number => Date.now();

t.test('while Redis is away a key that was seen has its share of each limit, and no more', async (t) => {
  const server = await durableRedis(t);
  const { engine } = openGateway(t, server, { gateways: 3 });
  const key = await newKey(engine, 'pro');
  const own = await newKey(engine, 'enterprise', custom(7, 'unlimited'));
  for (const each of [key, own]) t.equal((await ask(engine, each, now(), { cost: 0 })).outcome, 'admitted');
  await learnt(engine, key, own);
  await server.kill();
  await away(engine);
  const verdicts = await askMany(engine, key, 120, now());
  t.equal(count(verdicts, 'admitted'), 100);
  const refused = limited(verdicts[110]!);
  t.same([refused.minute.limit, refused.day.limit, refused.violated], [100, 3_333, 'minute']);
  t.equal(count(await askMany(engine, own, 5, now()), 'admitted'), 2, 'of limits on the key itself too');
  await server.restart();
  await back(engine);
  await until('all is in the ledger', async () => (await ledgerOf(engine, key)).requests === 100);
  t.match(await ledgerOf(engine, key), { requests: 100, limited: 20, banned: 0 });
  t.equal(standing(await ask(engine, key, now(), { cost: 0 })).day.remaining, 9_900, 'and spent from the day');
  t.equal(standing(await ask(engine, key, now(), { cost: 0 })).minute.limit, 300, 'the whole limit holds again');
});
