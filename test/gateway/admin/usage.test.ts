import t from 'tap';
import type { Test } from 'tap';
import type { UsageRow } from '../../../src/gateway/admission/port.js';
import { reportAsCsv, reportAsJson } from '../../../src/gateway/admin/report.js';
import type { Dimension } from '../../../src/gateway/admin/report.js';
import { parseToken } from '../../../src/gateway/keys/token.js';
import { listen } from './listener.js';

t.test('the report adds up to what was admitted, by each dimension', async (t: Test) => {
  const { ask, engine, registry } = await listen(t);
  const keys = [await registry.create({ plan: 'free', name: 'A' }), await registry.create({ plan: 'pro', name: 'B' })];
  const nowMs = Date.now();
  const day = new Date(nowMs).toISOString().slice(0, 10);
  const request = (index: number, operation: string) => {
    const parts = parseToken(keys[index]!.token, 'staging', false)!;
    return { subject: { kind: 'key' as const, ...parts }, operation, scope: null, cost: 1 as const, nowMs };
  };
  await engine.admit([...Array.from({ length: 62 }, () => request(0, 'listPets')), request(1, 'listPets'), request(1, 'createPet'), request(1, 'createPet')]);
  const [freeId, proId] = keys.map(({ record }) => record.id);
  await engine.fail([{ keyId: proId!, plan: 'pro', operation: 'createPet', admittedAtMs: nowMs }]);
  const free = { requests: 60, limited: 2, banned: 0, failed: 0 };
  const pro = { requests: 3, limited: 0, banned: 0, failed: 1 };
  const totals = { requests: 63, limited: 2, banned: 0, failed: 1 };
  const query = `from=${day}&to=${day}`;
  const byPlan = await ask('GET', `/admin/v1/usage?${query}`);
  t.match(byPlan.json, { from: day, to: day, by: ['plan'], final: false, totals });
  t.same(sorted(byPlan.json['rows'], 'plan'), [{ plan: 'free', ...free }, { plan: 'pro', ...pro }]);
  const byKey = await ask('GET', `/admin/v1/usage?${query}&by=key&format=json`);
  t.same(sorted(byKey.json['rows'], 'requests'), sorted([{ key: freeId, ...free }, { key: proId, ...pro }], 'requests'));
  const byOperation = await ask('GET', `/admin/v1/usage?${query}&by=operation,day&key=${proId!}`);
  t.same(sorted(byOperation.json['rows'], 'operation'), [
    { operation: 'createPet', day, requests: 2, limited: 0, banned: 0, failed: 1, final: false },
    { operation: 'listPets', day, requests: 1, limited: 0, banned: 0, failed: 0, final: false },
  ]);
  t.same(byOperation.json['totals'], pro);
  const csv = await ask('GET', `/admin/v1/usage?${query}&by=plan&format=csv`);
  t.match(csv.headers['content-type'], 'text/csv');
  t.same(csv.text.trim().split('\r\n').sort(), ['free,60,2,0,0', 'plan,requests,limited,banned,failed', 'pro,3,0,0,1']);
});

t.test('a range without traffic is an empty report, not an error', async (t: Test) => {
  const { ask } = await listen(t);
  const reply = await ask('GET', '/admin/v1/usage?from=2026-01-01&to=2026-01-31&by=key');
  t.same(reply.json, { from: '2026-01-01', to: '2026-01-31', by: ['key'], final: true, rows: [], totals: { requests: 0, limited: 0, banned: 0, failed: 0 } });
  t.equal((await ask('GET', '/admin/v1/usage?from=2026-01-01&to=2026-01-31&format=csv')).text, 'plan,requests,limited,banned,failed\r\n');
});

t.test('400: bad ranges and dimensions', async (t: Test) => {
  const { ask } = await listen(t);
  for (const query of ['from=2026-02-30', 'to=yesterday', 'from=2026-02-02&to=2026-02-01', 'by=', 'by=kay', 'by=key,key', 'format=xml', 'from=20260101', 'by=key&by=plan']) {
    t.match(await ask('GET', `/admin/v1/usage?${query}`), { status: 400, json: { code: 'invalid_query' } }, query);
  }
  t.equal((await ask('GET', '/admin/v1/usage?key=abcdefghijkl')).status, 404);
});

t.test('days are final an hour after they end, and a key without end is summed in little memory', async (t: Test) => {
  const row = (key: string, day: string): UsageRow => ({ key, plan: 'a,"b"', operation: 'o', day, requests: 1, limited: 2, banned: 3, failed: 4 });
  const range = { from: '2026-01-01', to: '2026-01-02', by: ['key', 'day'] as readonly Dimension[], openFrom: '2026-01-02' };
  async function* ledger(): AsyncGenerator<readonly UsageRow[]> {
    await Promise.resolve();
    yield [row('k1', '2026-01-01'), row('k1', '2026-01-01')];
    yield [row('k1', '2026-01-02'), row('k2', '2026-01-01')];
  }
  const pieces: string[] = [];
  for await (const piece of reportAsJson(range, ledger())) pieces.push(piece);
  t.equal(pieces.length, 3, 'the first key is out before the second is complete');
  const report = JSON.parse(pieces.join('')) as { rows: unknown[] };
  t.same(report.rows, [
    { key: 'k1', day: '2026-01-01', requests: 2, limited: 4, banned: 6, failed: 8, final: true },
    { key: 'k1', day: '2026-01-02', requests: 1, limited: 2, banned: 3, failed: 4, final: false },
    { key: 'k2', day: '2026-01-01', requests: 1, limited: 2, banned: 3, failed: 4, final: true },
  ]);
  let csv = '';
  for await (const piece of reportAsCsv({ ...range, by: ['plan'] }, ledger())) csv += piece;
  t.equal(csv, 'plan,requests,limited,banned,failed\r\n"a,""b""",4,8,12,16\r\n');
});

function sorted(rows: unknown, by: string): readonly Record<string, unknown>[] {
  return (rows as Record<string, unknown>[]).toSorted((a, b) => String(a[by]).localeCompare(String(b[by])));
}
