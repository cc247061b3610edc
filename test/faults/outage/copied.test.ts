import { cpSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openClient } from '../../e2e/client.js';
import { temporaryFolder } from '../../servers/program.js';
import { learnt } from '../copies.js';
import { away, createKey, EACH, fleetOf, ledgerIs } from '../fleet.js';

t.test(
  'gateways on copies of one data folder, made while it held counts for Redis, bring every count home once',
  async (t) => {
    const { redis, start } = await fleetOf(t);
    const first = await start();
    const { id, key } = await createKey(first, 'roomy');
    const served = async (url: string, count: number): Promise<void> => {
      const client = openClient(t, url, EACH);
      for (let n = 0; n < count; n += 1) t.equal((await client.send(key)).status, 200);
    };
    await served(first.url, 1);
    await learnt(first, [id]);
    await redis.kill();
    await away(first);
    await served(first.url, 10);
    await first.program.stop('SIGKILL');
    const copy = join(temporaryFolder(t), 'copy');
    cpSync(first.dataFolder, copy, { recursive: true });

    const gateways = [
      await start({ dataFolder: first.dataFolder }),
      await start({ dataFolder: copy, config: { workers: 2 } }),
    ];
    await away(...gateways);
    await served(gateways[0]!.url, 5);
    await served(gateways[1]!.url, 7);
    await redis.restart();
    await ledgerIs(gateways[0]!, id, 1 + 10 + 5 + 7, 'the ledger is what was served', t);
  },
);
