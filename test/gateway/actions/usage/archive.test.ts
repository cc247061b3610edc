import pg from 'pg';
import t from 'tap';
import type { Test } from 'tap';
import { command } from '../../../cli/commands.js';
import type { Finished } from '../../../cli/programs.js';
import { openEngine } from '../../../conformance/open.js';
import { scrape } from '../../../servers/exposition.js';
import { ADMIN_TOKEN, startGateway, type Gateway } from '../../../servers/gateway.js';
import { startPostgres } from '../../../servers/postgres.js';
import { startRedis } from '../../../servers/redis.js';
import { until } from '../../../servers/until.js';
import { ago, use } from '../../usage/archive/stage.js';

t.setTimeout(600_000);
const DAYS_AGO = [60, 50, 41, 40, 1];

async function serving(t: Test, environment: Readonly<Record<'REDIS_URL' | 'LEDGER_URL', string>>): Promise<Gateway> {
  const engine = openEngine({ engine: 'redis', url: environment.REDIS_URL });
  await engine.check();
  await use(engine, 20, DAYS_AGO);
  await engine.close();
  const gateway = await startGateway(t, { environment, config: { store: { deadline: '10s' } } });
  await until('the store is there', async () => (await gateway.admin('GET', '/readyz')).status === 200);
  return gateway;
}

function cli(gateway: Gateway, ...words: readonly string[]): Promise<Finished> {
  return command(['--admin-url', gateway.adminUrl, 'usage', ...words], {
    PATH: process.env['PATH'],
    PETGATE_ADMIN_TOKEN: ADMIN_TOKEN,
  });
}

/** Every form of a report, and of one key. Each is a process of low priority: made side by side. */
async function reportsOf(gateway: Gateway): Promise<readonly unknown[]> {
  const query = `from=${ago(80)}&to=${ago(0)}&by=key,plan,operation,day`;
  const json = (await gateway.admin('GET', `/admin/v1/usage?${query}`)).body as { rows: { key: string }[] };
  const [csv, key] = await Promise.all([
    cli(gateway, 'report', '--from', ago(80), '--by', 'key,day', '--format', 'csv'),
    gateway.admin('GET', `/admin/v1/usage?${query}&key=${json.rows[0]!.key}`),
  ]);
  // Operations of a day stand in no order.
  const inOrder = ({ rows, ...rest }: object & { rows?: unknown }) => ({
    ...rest,
    rows: (rows as object[]).map((row) => JSON.stringify(row)).sort(),
  });
  return [inOrder(json), csv, inOrder(key.body as object)];
}

async function movesAndRestores(t: Test, gateway: Gateway): Promise<void> {
  const before = await reportsOf(gateway);
  t.match(await cli(gateway, 'archive', 'status'), { code: 0, stdout: /no days yet\n.*3 wait/ });
  // On a busy machine the gateway may be at it by itself already.
  await until('all are moved', async () =>
    /^\d days moved, \d+ rows; none waits\n$/.test((await cli(gateway, 'archive', 'move')).stdout),
  );
  const { body } = await gateway.admin('GET', '/admin/v1/usage/archive');
  t.match(body, { days: 3, first: ago(60), last: ago(41), dueBefore: ago(40), waiting: [] });
  t.same(await reportsOf(gateway), before, 'reports are as before');
  t.match(await cli(gateway, 'archive', 'verify', '--from', ago(50)), { code: 0, stdout: /^(\S+  \d+ rows.*\n){2}$/ });
  t.match(await cli(gateway, 'archive', 'restore', '--to', ago(50)), { code: 0, stdout: /^(.* are back.*\n){2}$/ });
  t.same(await reportsOf(gateway), before);
  t.match(await cli(gateway, 'archive', 'status'), {
    code: 0,
    stdout: /: 1 days.*\n.*2 wait.*\n.*nothing is moved until/,
  });
  t.match(await cli(gateway, 'archive', 'verify', '--to', '2020-01-01'), { code: 0, stdout: /none of these days/ });
  t.match(await cli(gateway, 'archive', 'verify', '--from', '2026-02-30'), {
    code: 1,
    stderr: /must be a calendar day/,
  });
}

/** @param fresh started once the archive lacked a day */
async function saysWhatIsLost(t: Test, gateway: Gateway, fresh: Gateway): Promise<void> {
  const lacks = new RegExp(`lacks ${ago(41)}`);
  const report = () => gateway.admin('GET', `/admin/v1/usage?from=${ago(80)}`);
  t.match(await report(), { status: 503, body: { code: 'archive_unavailable', message: lacks } });
  await until('it is seen', async () => (await scrape(fresh.adminUrl)).value('petgate_ledger_lacking') === 1);
  const ready = await fresh.admin('GET', '/readyz');
  t.match(ready, { status: 200, body: { parts: { archive: { ok: false, detail: lacks } } } });
  const lost = new RegExp(`${ago(41)}  (?:lost: )?\\d+ requests, \\d+ units`);
  t.match(await cli(gateway, 'archive', 'status'), { code: 0, stdout: lost });
  t.match(await cli(gateway, 'archive', 'accept'), { code: 0, stdout: lost });
  t.match(await cli(gateway, 'archive', 'accept'), { code: 0, stdout: 'The archive lacks nothing.\n' });
  t.match(await report(), { status: 200 });
}

t.test('Redis: to PostgreSQL, and a gateway without that archive makes no report of a part', async (t) => {
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  t.teardown(() => Promise.all([redis.stop(), postgres.stop()]));
  const environment = { REDIS_URL: redis.url, LEDGER_URL: await postgres.createDatabase('ledger') };
  const gateway = await serving(t, environment);
  await movesAndRestores(t, gateway);
  const other = await startGateway(t, { environment: { REDIS_URL: redis.url } });
  const warnings = ({ program }: Gateway): number =>
    program.lines().filter(({ level, msg }) => level === 'warn' && String(msg).includes('LEDGER_URL')).length;
  for (const [its, unarchived] of [
    [gateway, 0],
    [other, 1],
  ] as const) {
    t.equal((await scrape(its.adminUrl)).value('petgate_ledger_unarchived'), unarchived);
    t.equal(warnings(its), unarchived, 'nor is it unsaid');
  }
  const refused = await other.admin('GET', `/admin/v1/usage?from=${ago(80)}`);
  t.equal(refused.status, 503);
  t.match(refused.body, { code: 'archive_unavailable', message: /LEDGER_URL/ });
  t.match(await cli(other, 'archive', 'status'), { code: 1, stderr: /There is no archive: set LEDGER_URL/ });
  const client = new pg.Client({ connectionString: environment.LEDGER_URL });
  await client.connect();
  await client.query('update ledger_rows set requests = requests + 1 where ctid = (select min(ctid) from ledger_rows)');
  t.match(await cli(gateway, 'archive', 'verify'), {
    code: 1,
    stdout: /not the ones that Petgate wrote/,
    stderr: /damaged/,
  });
  await client.query('delete from ledger_days where day = $1', [ago(41)]);
  await client.end();
  await saysWhatIsLost(t, gateway, await startGateway(t, { environment }));

  await postgres.stop();
  const away = await gateway.admin('GET', `/admin/v1/usage?from=${ago(80)}`);
  t.match(away, { status: 503, body: { code: 'archive_unavailable' } });
  const today = await gateway.admin('GET', `/admin/v1/usage?from=${ago(1)}&by=key`);
  t.equal(today.status, 200, 'nothing of these days was ever archived');
  t.ok((today.body as { rows: unknown[] }).rows.length > 0);
});
