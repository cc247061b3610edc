import t from 'tap';
import { StoreUnavailable } from '../../../src/pets/store/port.js';
import { openPostgresStore } from '../../../src/pets/store/postgres.js';
import { startPgbouncer } from '../../servers/pgbouncer.js';
import { startPostgres } from '../../servers/postgres.js';
import { startProxy } from '../../servers/stalling-proxy.js';
import { storeContract } from './contract.js';

const server = await startPostgres();
t.teardown(() => server.stop());
const databases = new Map<string, Promise<string>>();
const quiet = (): undefined => undefined;

storeContract(
  t,
  async (data) => {
    let url = databases.get(data);
    if (url === undefined) databases.set(data, (url = server.createDatabase(data.toLowerCase().slice(0, 60))));
    return openPostgresStore(await url, quiet);
  },
  true,
);

t.test(
  'a database that stalls or goes away is StoreUnavailable within two seconds, and comes back by itself',
  async (t) => {
    const target = new URL(await server.createDatabase('stalled'));
    const proxy = await startProxy(Number(target.port));
    t.teardown(() => proxy.stop());
    target.port = String(proxy.port);
    const store = await openPostgresStore(target.href, quiet);
    t.teardown(() => store.close());
    const rex = await store.add({ name: 'Rex', categoryId: 1n });

    for (const mode of ['stall', 'refuse'] as const) {
      proxy.set(mode);
      const startedAtMs = Date.now();
      // More calls than connections: the wait for a free one is in the bound too.
      const calls = Array.from({ length: 30 }, (_, index) =>
        index % 2 === 0 ? store.add({ name: 'Max', categoryId: 1n }) : store.read(rex.id),
      );
      const results = await Promise.allSettled([...calls, store.check()]);
      const tookMs = Date.now() - startedAtMs;
      t.ok(
        results.every((result) => result.status === 'rejected' && result.reason instanceof StoreUnavailable),
        `${mode}: all refused`,
      );
      t.ok(tookMs < 20_000, `${mode}: ${tookMs} ms`);
      proxy.set('pass');
      t.same(await store.read(rex.id), rex, `${mode}: back`);
      t.ok((await store.add({ name: 'Max', categoryId: 1n })).id > rex.id);
    }
  },
);

t.test('by way of PgBouncer in transaction mode it works as without', async (t) => {
  const url = await startPgbouncer(t, await server.createDatabase('pooled'));
  const store = await openPostgresStore(url, quiet);
  t.teardown(() => store.close());
  const pets = await Promise.all(Array.from({ length: 30 }, () => store.add({ name: 'Rex', categoryId: 1n })));
  t.same(await store.read(pets[7]!.id), pets[7]);
  t.equal((await store.page({ afterId: 0n, count: 50, status: undefined })).length, 30);
});
