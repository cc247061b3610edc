import t from 'tap';
import type { Test } from 'tap';
import { exportStore } from '../../../../src/gateway/accounts/transfer/store-export.js';
import { importStore } from '../../../../src/gateway/accounts/transfer/store-import.js';
import type { ImportLine } from '../../../../src/gateway/accounts/transfer/import.js';
import type { FailoverEngine } from '../../../../src/gateway/store/outage/engine.js';
import type { AdmissionEngine } from '../../../../src/gateway/store/port.js';
import { askMany, count, dayName, keyOf, newCustomer, newKey, rowsOf, type Actor } from '../../../conformance/cast.js';
import { CREATE, LIST } from '../../../conformance/names.js';
import { openEngine } from '../../../conformance/open.js';
import type { SteeredEngine } from '../../../conformance/reference.js';
import { startRedis, type RedisServer } from '../../../servers/redis.js';
import { until } from '../../../servers/until.js';
import { back, learnt, ledgerOf, openGateway, outageBegins } from './fixture.js';

async function exported(engine: AdmissionEngine): Promise<readonly string[]> {
  let text = '';
  for await (const piece of exportStore(engine, Date.now())) text += piece;
  return text.trim().split('\n');
}

function imported(engine: AdmissionEngine, lines: readonly string[]) {
  const all = async function* (): AsyncGenerator<ImportLine> {
    for (const [n, line] of lines.entries())
      yield await Promise.resolve({ line: n + 1, body: JSON.parse(line) as Record<string, unknown> });
  };
  return importStore(engine, all());
}

/** Takes a Redis that came back empty. */
async function accepted(engine: FailoverEngine): Promise<void> {
  await until('it is not believed', () => engine.trust!.replaced() !== null);
  await engine.trust!.accept();
  await back(engine);
}

/** As docs/guides/redis-incident.md has it; `spend` gives how many units were admitted. */
async function incident(
  t: Test,
  server: RedisServer,
  { engine }: ReturnType<typeof openGateway>,
  keys: readonly Actor[],
  spend: (phase: number) => Promise<number>,
): Promise<number> {
  let spent = await spend(0);
  await learnt(engine, ...keys);
  const file = await exported(engine);
  await outageBegins(server, engine);
  spent += await spend(1);
  await server.restart();
  spent += await spend(2);
  await accepted(engine);
  t.equal(engine.failover.spooled(), 0, 'what was counted arrived before the key is known');
  t.match(await imported(engine, file), {
    added: file.filter((line) => /"kind":"(?:key|customer)"/.test(line)).length,
  });
  t.match(await imported(engine, file), { added: 0, changed: 0, raised: 0 }, 'a second import changes nothing');
  return spent;
}

t.test('Redis dies and comes back empty: what the outage counted and what the import brings are added', async (t) => {
  const server = await startRedis();
  t.teardown(() => server.stop());
  const gateway = openGateway(t, server);
  const { engine } = gateway;
  const key = await newKey(engine, 'enterprise', { limits: { minute: 'unlimited', day: 200, month: 1_000 } });
  const requests = [100, 60, 10];
  const spend = async (phase: number): Promise<number> =>
    count(await askMany(engine, key, requests[phase]!, Date.now()), 'admitted');
  t.equal(await incident(t, server, gateway, [key], spend), 170);
  t.match(await ledgerOf(engine, key), { requests: 170, units: 170 });
  t.equal(count(await askMany(engine, key, 50, Date.now()), 'admitted'), 30, 'the day limit holds');
  t.match(await ledgerOf(engine, key), { requests: 200, limited: 20 });
  const [snapshot] = await engine.keys.snapshots(null, 1, dayName(Date.now()));
  t.equal(snapshot?.state.month.level, 200, 'of the month, too');

  // The same spool sends totals: what Redis acknowledged before it was lost is in the file already.
  const file = await exported(engine);
  await outageBegins(server, engine);
  await server.restart();
  await accepted(engine);
  await imported(engine, file);
  await askMany(engine, key, 1, Date.now());
  await learnt(engine, key);
  await outageBegins(server, engine);
  const [verdict] = await askMany(engine, key, 1, Date.now());
  t.equal(verdict?.outcome, 'limited');
  await server.restart();
  await accepted(engine);
  await imported(engine, file);
  t.match(await ledgerOf(engine, key), { requests: 200 });
});

t.test("a customer's keys, and windows of an operation", async (t) => {
  const server = await startRedis();
  t.teardown(() => server.stop());
  const gateway = openGateway(t, server);
  const { engine } = gateway;
  const customer = await newCustomer(engine, 'priced');
  const keys = [await keyOf(engine, customer.id), await keyOf(engine, customer.id)];
  let created = 0;
  const spend = async (phase: number): Promise<number> => {
    let units = 0;
    for (const key of keys) {
      units += count(await askMany(engine, key, 5 + phase, Date.now()), 'admitted');
      if (phase === 2) continue;
      const creates = count(await askMany(engine, key, 1, Date.now(), { operation: CREATE }), 'admitted');
      created += creates;
      units += 5 * creates;
    }
    return units;
  };
  const spent = await incident(t, server, gateway, keys, spend);
  t.ok(created > 2, `${created} of them created something`);
  const rows = await rowsOf(engine, dayName(Date.now()), dayName(Date.now()));
  t.equal(
    rows.reduce((sum, { units }) => sum + units, 0),
    spent,
  );
  const [snapshot] = await engine.customers.snapshots(null, 1, dayName(Date.now()));
  t.equal(snapshot?.state.day.level, spent * 86_400_000);
  t.equal(snapshot?.state.month.level, spent);
  t.equal(snapshot?.state.operationWindows?.get(`${CREATE}-day`)?.level, 5 * created * 86_400_000);
});

t.test('a failure that is reported before its key is known is counted beside those of the file', async (t) => {
  const servers = await Promise.all([startRedis(), startRedis()]);
  t.teardown(() => Promise.all(servers.map((server) => server.stop())));
  const [first, second] = servers.map(({ url }) => openEngine({ engine: 'redis', url })) as [
    SteeredEngine,
    SteeredEngine,
  ];
  t.teardown(() => Promise.all([first.close(), second.close()]));
  const key = await newKey(first, 'free');
  const nowMs = Date.now();
  await askMany(first, key, 3, nowMs);
  const failure = { keyId: key.id, plan: 'free', operation: LIST, admittedAtMs: nowMs, isFailed: true };
  const report = { reporter: 'one', number: 1, keyId: key.id, day: Math.floor(nowMs / 86_400_000) };
  await first.settle([{ ...report, ended: [failure] }]);
  await second.settle([{ ...report, ended: [failure, failure] }]);
  const file = await exported(first);
  for (let n = 0; n < 2; n += 1) {
    await imported(second, file);
    t.match(await rowsOf(second, dayName(nowMs), dayName(nowMs)), [{ requests: 3, failed: 3 }]);
  }
});
