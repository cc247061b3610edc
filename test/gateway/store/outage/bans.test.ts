import t from 'tap';
import { askMany, freshId, newKey, type Actor } from '../../../conformance/cast.js';
import { until } from '../../../servers/until.js';
import { learnt, outageBegins, outageEnds, startGateway } from './fixture.js';

const now = (): number => Date.now();

t.test('a ban that a gateway began by itself stands in the history afterwards, once, and is over', async (t) => {
  const { server, engine, redis } = await startGateway(t);
  const key = await newKey(engine, 'strict');
  const address = { kind: 'address', address: `2001:db8:${freshId().slice(0, 4)}:1` } as const;
  const outcomeOf = async (who: Actor | typeof address, times: number): Promise<string | undefined> =>
    (await askMany(engine, who, times, now())).at(-1)?.outcome;
  const wait = async (): Promise<void> => {
    await learnt(engine, key);
    await outageBegins(server, engine);
  };
  t.equal(await outcomeOf(key, 1), 'admitted');
  await wait();
  t.equal(await outcomeOf(key, 8), 'banned');
  t.equal(await outcomeOf(address, 20), 'banned');
  await outageEnds(server, engine);
  await until('it is in the history', async () => (await engine.keys.history(key.id)).length === 2);
  t.match(await engine.keys.history(key.id), [
    { action: 'created' },
    { actor: 'petgate', action: 'banned', changed: { level: 1, plan: 'strict' } },
  ]);
  t.equal(await engine.bans.read(key.id), undefined, 'in Redis there never was one');
  t.same((await engine.bans.addresses(null, 10)).bans, []);

  await wait();
  t.not(await outcomeOf(key, 1), 'banned', 'the next outage knows nothing of it');
  t.not(await outcomeOf(address, 1), 'banned');
  await outageEnds(server, engine);
  const history = await engine.keys.history(key.id);
  t.equal(history.length, 2, 'and brings none twice');
  await redis.fleet.takeBan(key.id, history[1]!);
  t.same(await engine.keys.history(key.id), history, 'nor when its gateway dies before it has forgotten it');
});
