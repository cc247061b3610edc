import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { until } from '../../servers/until.js';
import { openClient } from '../../e2e/client.js';
import { learnt } from '../copies.js';
import { away, back, createKey, EACH, figure, fleetOf } from '../fleet.js';
import { ledgerOf } from '../../e2e/ledger.js';

t.setTimeout(600_000);
t.test(
  'a gateway killed with -9 while Redis is unavailable, and again while it replays, loses nothing and counts ' +
    'nothing twice',
  async (t) => {
    const { redis, start } = await fleetOf(t);
    const other = await start();
    let gateway = await start({ config: { workers: 2 } });
    const keys = await Promise.all(Array.from({ length: 30 }, () => createKey(other, 'roomy')));
    const admitted = new Map(keys.map(({ id }) => [id, 0]));
    const first = openClient(t, gateway.url, EACH);
    const askAll = async (times: number): Promise<void> => {
      const client = openClient(t, gateway.url, EACH);
      await Promise.all(
        keys.map(async ({ id, key }) => {
          for (let n = 0; n < times; n += 1)
            if ((await client.send(key)).status === 200) admitted.set(id, admitted.get(id)! + 1);
        }),
      );
      await client.close();
    };
    const killAndStart = async (): Promise<void> => {
      await gateway.program.stop('SIGKILL');
      gateway = await start({ dataFolder: gateway.dataFolder, config: { workers: 2 } });
    };
    // A busy Redis misses a deadline now and then; a key nobody saw here would be refused while it is unavailable.
    for (const { id, key } of keys) {
      await until(
        'the key is served',
        async () => (await first.send(key)).status === 200 && admitted.set(id, admitted.get(id)! + 1).size > 0,
      );
    }
    await learnt(
      gateway,
      keys.map(({ id }) => id),
    );
    for (let round = 0; round < 3; round += 1) {
      await redis.kill();
      await away(gateway);
      await askAll(3);
      await killAndStart();
      await away(gateway);
      await askAll(2);
      await redis.restart();
      await sleep(round * 150 + 400);
      await killAndStart();
      await back(gateway);
    }
    await until('nothing waits', async () => (await figure(gateway, 'petgate_spool_requests')) === 0);
    const total = [...admitted.values()].reduce((sum, each) => sum + each, 0);
    t.ok(total > 30 * 14, 'nearly all were admitted', { total });
    const wrong: unknown[] = [];
    for (const { id } of keys) {
      await until(
        'its ledger is complete',
        async () => (await ledgerOf(other, id)).requests >= admitted.get(id)!,
      ).catch(() => undefined);
      const { requests } = await ledgerOf(other, id);
      if (requests !== admitted.get(id)) wrong.push([id, requests, admitted.get(id)]);
    }
    t.strictSame(wrong, [], 'each ledger is what its client saw admitted');
  },
);
