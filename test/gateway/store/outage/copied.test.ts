import { cpSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { askMany, count, newKey } from '../../../conformance/cast.js';
import { until } from '../../../servers/until.js';
import { tempFolder } from '../embedded/fixture.js';
import { back, durableRedis, learnt, ledgerOf, openGateway, outageBegins, unavailable } from './fixture.js';

const AUTO = { gateways: 'auto' } as const;

function copyOf(t: Parameters<typeof tempFolder>[0], folder: string): string {
  const copy = join(tempFolder(t), 'copy');
  cpSync(folder, copy, { recursive: true });
  return copy;
}

t.test(
  'gateways with copies of one data folder are two: no limit is given twice, and every count comes home',
  async (t) => {
    const server = await durableRedis(t);
    const first = openGateway(t, server, AUTO);
    const key = await newKey(first.engine, 'free');
    await askMany(first.engine, key, 1, Date.now());
    await learnt(first.engine, key);
    await first.engine.close();
    const [one, other] = [first.folder, copyOf(t, first.folder)].map((folder) =>
      openGateway(t, server, { ...AUTO, folder }),
    );
    for (const { engine } of [one!, other!]) await until('both are seen', () => engine.failover.gateways() === 2);
    await server.kill();
    for (const { engine } of [one!, other!]) await unavailable(engine);
    const admitted = [];
    for (const { engine } of [one!, other!])
      admitted.push(count(await askMany(engine, key, 60, Date.now()), 'admitted'));
    t.same(admitted, [30, 30], 'half of sixty a minute each');
    await server.restart();
    for (const { engine } of [one!, other!]) await back(engine);
    await until('all is in the ledger', async () => (await ledgerOf(one!.engine, key)).requests === 61);
  },
);

t.test('a spool that was copied before it was empty comes home once', async (t) => {
  const server = await durableRedis(t);
  const first = openGateway(t, server);
  const key = await newKey(first.engine, 'free');
  await askMany(first.engine, key, 1, Date.now());
  await learnt(first.engine, key);
  await outageBegins(server, first.engine);
  t.equal(count(await askMany(first.engine, key, 10, Date.now()), 'admitted'), 10);
  await first.engine.close();
  const folders = [first.folder, copyOf(t, first.folder)];
  await server.restart();
  const engines = folders.map((folder) => openGateway(t, server, { folder }).engine);
  await until('it is in the ledger', async () => (await ledgerOf(engines[0]!, key)).requests >= 11);
  for (const engine of engines) await until('nothing waits', () => engine.failover.spooled() === 0);
  await Promise.all(engines.map((engine) => engine.close()));
  const reader = openGateway(t, server).engine;
  t.equal((await ledgerOf(reader, key)).requests, 11);
});

t.test('who was killed and starts again is one gateway, and keeps no day open', async (t) => {
  const server = await durableRedis(t);
  const reporters = async (): Promise<string[]> =>
    ((await server.command('HKEYS', 'petgate:gateways:days')) as string[]).filter((id) => !id.includes(' '));
  const first = openGateway(t, server, AUTO);
  await until('it reports', async () => (await reporters()).length === 1);
  const folder = copyOf(t, first.folder);
  const [id = ''] = await reporters();
  const group = (await server.command('ZRANGE', 'petgate:gateways', 0, -1)) as string[];
  await first.engine.close();
  // What a kill leaves behind.
  await server.command('ZADD', 'petgate:gateways', Date.now() + 10_000, group[0]!);
  await server.command('HSET', 'petgate:gateways:days', id, '20000|1|told|host');
  openGateway(t, server, { ...AUTO, folder });
  await until('it reports under another id, and the one before is gone', async () => {
    const now = await reporters();
    return now.length === 1 && now[0] !== id;
  });
  t.equal(await server.command('ZCARD', 'petgate:gateways'), 1);
});
