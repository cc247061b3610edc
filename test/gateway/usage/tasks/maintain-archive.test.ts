import pg from 'pg';
import { Registry } from 'prom-client';
import t from 'tap';
import { maintainArchive } from '../../../../src/gateway/usage/tasks/maintain-archive.js';
import { watchArchive } from '../../../../src/gateway/usage/tasks/archive-metrics.js';
import { createLog } from '../../../../src/shared/log.js';
import { startPostgres } from '../../../servers/postgres.js';
import { startRedis } from '../../../servers/redis.js';
import { until } from '../../../servers/until.js';
import { ago, openStage, use } from '../archive/stage.js';

t.setTimeout(600_000);

t.test('days are moved by themselves; metrics tell when they are not', async (t) => {
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  t.teardown(() => Promise.all([redis.stop(), postgres.stop()]));
  // There is no such database yet.
  const { engine, settings, store } = await openStage(t, redis.url, postgres.url.replace(/postgres$/, 'ledger'));
  await use(engine, 5, [60, 50, 41, 1]);
  const archiving = maintainArchive(settings, store, createLog('gateway', 'silent'), 50);
  t.teardown(() => archiving.stop());
  const registry = new Registry();
  watchArchive(registry, () => archiving.state());
  t.match(await registry.metrics(), /petgate_ledger_archive_up 1/, 'nothing failed yet');
  await until('it failed', () => archiving.state().ok === false, 60_000);
  t.match(await registry.metrics(), /petgate_ledger_archive_up 0/);
  await postgres.createDatabase('ledger');
  await until('it moved them', () => archiving.state().ok === true, 60_000);
  const metrics = await registry.metrics();
  t.match(metrics, /petgate_ledger_archive_up 1/);
  t.match(metrics, /petgate_ledger_archived 3/);
  t.match(metrics, /petgate_ledger_waiting 0/);
  t.match(metrics, /petgate_ledger_lacking 0/);

  const client = new pg.Client({ connectionString: settings.store.archive! });
  await client.connect();
  await client.query('delete from ledger_days where day = $1', [ago(50)]);
  await client.end();
  await until('it was seen that a day is gone', () => archiving.state().lacking.length > 0);
  t.match(archiving.state().lacking, [{ day: ago(50), lost: { requests: 9, units: 23 } }]);
  t.match(await registry.metrics(), /petgate_ledger_lacking 1/);

  await postgres.stop();
  await until('the archive is known to be down, though nothing has to be moved', () => archiving.state().ok === false);
  t.match(await registry.metrics(), /petgate_ledger_archive_up 0/);
});
