import { request, type ClientRequest } from 'node:http';
import pg from 'pg';
import t from 'tap';
import type { Test } from 'tap';
import { connectTo, endOf, unavailable } from '../../../../src/gateway/usage/archive/connect.js';
import { openEngine } from '../../../conformance/open.js';
import { ADMIN_TOKEN, startGateway } from '../../../servers/gateway.js';
import { startPostgres } from '../../../servers/postgres.js';
import { childrenOf } from '../../../servers/program.js';
import { redisFor } from '../../../servers/redis.js';
import { until } from '../../../servers/until.js';
import { ago, use } from './stage.js';

t.setTimeout(600_000);
const postgres = await startPostgres();
t.teardown(() => postgres.stop());

/** Somebody else's transaction, such as a dump that is restored, which lets nobody read what is archived. */
async function lockedDays(t: Test, url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());
  await client.query('begin; lock table ledger_days in access exclusive mode');
  return { release: () => client.query('rollback') };
}

t.test('reports that wait for the archive end with their clients, and keep out no report on other days', async (t) => {
  const redis = await redisFor(t);
  const url = await postgres.createDatabase('locked');
  const engine = openEngine({ engine: 'redis', url: redis.url });
  await engine.check();
  await use(engine, 3, [60, 1]);
  await engine.close();
  const environment = { REDIS_URL: redis.url, LEDGER_URL: url };
  const gateway = await startGateway(t, { environment, config: { store: { deadline: '10s' } } });
  await until('the day is moved', async () => {
    await gateway.admin('POST', '/admin/v1/usage/archive/move');
    const { body } = await gateway.admin('GET', '/admin/v1/usage/archive');
    return (body as { readonly days?: number }).days === 1;
  });
  const [old, recent] = [`/admin/v1/usage?from=${ago(60)}&to=${ago(50)}`, `/admin/v1/usage?from=${ago(1)}`];
  const [ofOld, ofRecent] = [await gateway.admin('GET', old), await gateway.admin('GET', recent)];
  t.same([ofOld.status, ofRecent.status], [200, 200]);
  const lock = await lockedDays(t, url);
  const children = (): number => childrenOf(gateway.program.pid).length;

  const asked = (): ClientRequest => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    return request(gateway.adminUrl + old, { headers })
      .on('error', () => undefined)
      .end();
  };
  const clients = [asked(), asked(), asked()];
  await until('three wait', () => children() === 3);
  t.match(await gateway.admin('GET', old), { status: 503, body: { code: 'busy' } }, 'one is left for other days');
  t.same((await gateway.admin('GET', recent)).body, ofRecent.body);
  for (const client of clients) client.destroy();
  await until('their processes ended', () => children() === 0);
  const answer = gateway.admin('GET', old);
  await until('another one is let in', () => children() === 1);
  await lock.release();
  t.same((await answer).body, ofOld.body);
});

t.test('a query of the archive has a deadline, and its connection ends all the same', async (t) => {
  const url = await postgres.createDatabase('deadline');
  const client = await connectTo(url)(200);
  const error = await client.query('select pg_sleep(600)').catch(unavailable);
  t.match(error, { name: 'ArchiveUnavailable', message: /did not respond to a query in time/ });
  await endOf(client);
});
