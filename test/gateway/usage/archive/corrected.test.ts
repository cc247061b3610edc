import t from 'tap';
import { customerOf } from '../../../../src/gateway/store/records/customer-id.js';
import { moveDays } from '../../../../src/gateway/usage/archive/move.js';
import { restoreDays } from '../../../../src/gateway/usage/archive/restore.js';
import { petgate, surroundings } from '../../../cli/programs.js';
import { ADMIN_TOKEN, startGateway } from '../../../servers/gateway.js';
import { startPostgres } from '../../../servers/postgres.js';
import { redisFor } from '../../../servers/redis.js';
import { ago, archiveOf, openStage, use } from './stage.js';

type Row = Readonly<Record<string, unknown>>;

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

t.test('a day in the archive is corrected beside what was counted, and comes back as it was', async (t) => {
  const redis = await redisFor(t);
  const url = await postgres.createDatabase('corrected');
  const { engine, settings, store } = await openStage(t, redis.url, url);
  const [lone = '', , owned = ''] = (await use(engine, 3, [50, 49], 1)).map(({ id }) => id);
  const customer = customerOf(owned)!;
  const archive = await archiveOf(t, settings);
  const days: string[] = [];
  await moveDays(store, archive, settings.store, (day) => days.push(day));
  t.same(days, [ago(50), ago(49)]);

  const gateway = await startGateway(t, { environment: { REDIS_URL: redis.url, LEDGER_URL: url } });
  const environment = { ADMIN_PORT: new URL(gateway.adminUrl).port, PETGATE_ADMIN_TOKEN: ADMIN_TOKEN };
  const run = (...args: readonly string[]) =>
    petgate(['usage', ...args], surroundings(gateway.dataFolder, environment));
  const report = async (by: string): Promise<readonly Row[]> => {
    const { stdout } = await run('--from', ago(50), '--to', ago(49), '--by', by, '--format', 'json');
    return (JSON.parse(stdout) as { rows: readonly Row[] }).rows;
  };
  const before = await report('key,day');
  const plan = ['--plan', 'open', '--reason', 'an outage'];
  for (const [whose, id, day, units] of [
    ['--key', lone, ago(49), '-3'],
    ['--customer', customer, ago(50), '5'],
  ] as const)
    t.match(await run('correct', whose, id, '--day', day, '--units', units, ...plan), { code: 0, stderr: '' });

  const isCorrected = (rows: readonly Row[], what: string): void => {
    const counted = rows.filter(({ key }) => key !== customer);
    t.same(
      counted,
      before.map((row, n) => ({ ...row, correctedUnits: counted[n]?.['correctedUnits'], correctedRequests: 0 })),
      `${what}: what was counted stands as it was`,
    );
    const sums = rows.flatMap(({ key, day, correctedUnits }) =>
      correctedUnits === 0 ? [] : [[key, day, correctedUnits]],
    );
    t.same(
      new Set(sums),
      new Set([
        [lone, ago(49), -3],
        [customer, ago(50), 5],
      ]),
      `${what}: and each correction once`,
    );
  };
  isCorrected(await report('key,day'), 'in the archive');
  await archive.verify(ago(50));
  t.match(
    (await report('customer')).find((row) => row['customer'] === customer),
    {
      correctedUnits: 5,
      units: before.filter(({ key }) => key === owned).reduce((sum, row) => sum + Number(row['units']), 0),
    },
  );
  await restoreDays(store, archive, days, () => undefined);
  isCorrected(await report('key,day'), 'back in the store');
});
