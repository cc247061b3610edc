import t from 'tap';
import { GATEWAY_DAYS } from '../../../src/gateway/store/redis/keyspace/names.js';
import { startGateway } from '../../servers/gateway.js';
import { until } from '../../servers/until.js';
import { HOUR_MS, lastTold, startStage, type Stage } from './final-stage.js';
import { day } from '../../e2e/ledger.js';

interface Report {
  readonly final: boolean;
  readonly rows: readonly { readonly requests: number; readonly final: boolean; readonly without?: string }[];
  readonly waitingFor: readonly { readonly gateway: string; readonly host: string; readonly from: string }[];
  readonly without: readonly { readonly gateway: string }[];
}

async function reportOf({ near, overMs }: Stage): Promise<Report> {
  return (await near.admin('GET', `/admin/v1/usage?from=${day(overMs)}&to=${day(overMs)}&by=day`)).body as Report;
}

t.test('a day is not final while a gateway that is cut off may have counts of it, and is when they came', async (t) => {
  const stage = await startStage(t);
  await lastTold(stage, 2 * HOUR_MS);
  const open = await reportOf(stage);
  t.equal(open.final, false);
  t.match(open.waitingFor, [{ gateway: stage.cutId, host: 'cut.example', from: day(stage.overMs) }]);
  stage.proxy.set('pass');
  await until('the day is final', async () => (await reportOf(stage)).final);
  const closed = await reportOf(stage);
  t.match(closed.rows, [{ requests: 3, final: true }]);
  t.equal(closed.rows[0]!.without, undefined);
  t.same([closed.waitingFor, closed.without], [[], []]);
  await stage.cut.program.stop();
  t.notOk(
    await stage.redis.command('HEXISTS', GATEWAY_DAYS, stage.cutId),
    'it takes leave when it has brought all home',
  );
});

t.test('a gateway that is gone for good is named; the bound or an operator ends the wait, with a mark', async (t) => {
  const stage = await startStage(t, '3h');
  await stage.cut.program.stop('SIGKILL');
  await lastTold(stage, 2 * HOUR_MS);
  t.equal((await reportOf(stage)).final, false);
  await lastTold(stage, 4 * HOUR_MS);
  t.match(
    await reportOf(stage),
    { final: true, waitingFor: [], without: [{ gateway: stage.cutId }] },
    'after the bound',
  );
  await lastTold(stage, 2 * HOUR_MS);
  t.equal((await stage.near.admin('DELETE', '/admin/v1/usage/gateways/nobody')).status, 404);
  t.equal((await stage.near.admin('DELETE', `/admin/v1/usage/gateways/${stage.cutId}`)).status, 204);
  t.match(await reportOf(stage), { final: true, waitingFor: [], without: [{ gateway: stage.cutId }] }, 'given up');

  stage.proxy.set('pass');
  const { dataFolder } = stage.cut;
  const again = await startGateway(t, { dataFolder, environment: { REDIS_URL: stage.redis.url } });
  await until('what came late is there, without a mark', async () => (await reportOf(stage)).without.length === 0);
  t.match(await reportOf(stage), { final: true, rows: [{ requests: 3, final: true }] });
  await again.program.stop();
});
