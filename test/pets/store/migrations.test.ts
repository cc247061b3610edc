import pg from 'pg';
import t from 'tap';
import { openPostgresStore } from '../../../src/pets/store/postgres.js';
import { startPostgres } from '../../servers/postgres.js';

const server = await startPostgres();
t.teardown(() => server.stop());
const quiet = (): undefined => undefined;

async function versions(url: string): Promise<number[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ version: number }>('select version from pets_migrations order by version');
  await client.end();
  return rows.map((row) => row.version);
}

t.test('instances that start together on an empty database migrate it once', async (t) => {
  const url = await server.createDatabase('together');
  const stores = await Promise.all(Array.from({ length: 6 }, () => openPostgresStore(url, quiet)));
  t.teardown(() => Promise.all(stores.map((store) => store.close())));
  t.same(await versions(url), [1]);
  for (const store of stores) await store.add({ name: 'Rex', categoryId: 1n });
  t.equal((await stores[0]!.page({ afterId: 0n, count: 10, status: undefined })).length, 6);
});

t.test('a schema newer than the program is refused', async (t) => {
  const url = await server.createDatabase('newer');
  await (await openPostgresStore(url, quiet)).close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('insert into pets_migrations (version) values (999)');
  await client.end();
  await t.rejects(openPostgresStore(url, quiet), { message: /format 999, .* does not know/ });
  t.same(await versions(url), [1, 999]);
});

t.test('a migration that fails leaves nothing behind', async (t) => {
  const url = await server.createDatabase('half');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create table pets (other integer)');
  await t.rejects(openPostgresStore(url, quiet), /already exists/);
  const { rows } = await client.query("select to_regclass('pets_migrations') as made");
  await client.end();
  t.same(rows, [{ made: null }]);
});

t.test('a database that could not hold every name is refused with what to do', async (t) => {
  const url = await server.createDatabase('latin', "encoding 'LATIN1' template template0");
  await t.rejects(openPostgresStore(url, quiet), /encoding is LATIN1: create the database with encoding UTF8/);
});
