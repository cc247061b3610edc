import t from 'tap';
import { CHANGES } from '../../../../src/gateway/store/redis/keyspace/names.js';
import { ask, change, newKey, type Actor } from '../../../conformance/cast.js';
import { until } from '../../../servers/until.js';
import { durableRedis, learnt, openGateway } from './fixture.js';

const KEYS = 600;

t.test(
  'a gateway follows every change of a millisecond in which more keys changed than it reads at once',
  async (t) => {
    const server = await durableRedis(t);
    const here = openGateway(t, server);
    const there = openGateway(t, server, { maintains: false });
    const keys: Actor[] = [];
    while (keys.length < KEYS)
      keys.push(...(await Promise.all(Array.from({ length: 20 }, () => newKey(there.engine, 'free')))));
    for (let from = 0; from < KEYS; from += 20)
      await Promise.all(keys.slice(from, from + 20).map((key) => ask(here.engine, key, Date.now(), { cost: 0 })));
    await learnt(here.engine, ...keys);
    await here.engine.close();

    for (let from = 0; from < KEYS; from += 20)
      await Promise.all(
        keys.slice(from, from + 20).map((key) => change(there.engine, key, { status: 'revoked', secrets: [] })),
      );
    // All in one moment, as a fast machine would have it.
    const atMs = Date.now();
    await server.command('ZADD', CHANGES, ...keys.flatMap(({ id }) => [atMs, id]));
    const again = openGateway(t, server, { folder: here.folder });
    await until('every copy says revoked', () =>
      keys.every(({ id }) => again.engine.cached(id)?.record.status === 'revoked'),
    );
    t.pass();
  },
);
