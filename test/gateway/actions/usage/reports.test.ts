import t from 'tap';
import { DAY_MS } from '../../../../src/gateway/admission/bucket.js';
import { requestWith } from '../../accounts/store.js';
import { bearer, listen } from '../../admin/listener.js';
import { eraseKey } from '../../../../src/gateway/accounts/keys/erase.js';
import { createReporter } from '../../../../src/gateway/store/settlements.js';

const reportsOf = createReporter();

t.test('the report adds up to what was admitted, by each dimension', async (t) => {
  const { ask, engine, registry } = await listen(t);
  const keys = [await registry.create({ plan: 'free', name: 'A' }), await registry.create({ plan: 'pro', name: 'B' })];
  const nowMs = Date.now();
  const day = new Date(nowMs).toISOString().slice(0, 10);
  const request = (index: number, operation: string) => requestWith(keys[index]!.token, { operation, nowMs });
  await engine.admit([
    ...Array.from({ length: 62 }, () => request(0, 'listPets')),
    request(1, 'listPets'),
    request(1, 'createPet'),
    request(1, 'createPet'),
  ]);
  const [freeId, proId] = keys.map(({ record }) => record.id);
  await engine.settle(
    reportsOf([{ keyId: proId!, plan: 'pro', operation: 'createPet', admittedAtMs: nowMs, isFailed: true }]),
  );
  const free = { requests: 60, units: 60, returned: 0, limited: 2, banned: 0, failed: 0 };
  const pro = { requests: 3, units: 3, returned: 0, limited: 0, banned: 0, failed: 1 };
  const totals = { requests: 63, units: 63, returned: 0, limited: 2, banned: 0, failed: 1 };
  const query = `from=${day}&to=${day}`;
  const byPlan = await ask('GET', `/admin/v1/usage?${query}`);
  t.match(byPlan.json, { from: day, to: day, by: ['plan'], final: false, totals });
  t.same(sorted(byPlan.json['rows'], 'plan'), [
    { plan: 'free', ...free },
    { plan: 'pro', ...pro },
  ]);
  const byKey = await ask('GET', `/admin/v1/usage?${query}&by=key&format=json`);
  t.same(
    sorted(byKey.json['rows'], 'requests'),
    sorted(
      [
        { key: freeId, name: 'A', ...free },
        { key: proId, name: 'B', ...pro },
      ],
      'requests',
    ),
  );
  const byOperation = await ask('GET', `/admin/v1/usage?${query}&by=operation,day&key=${proId!}`);
  t.same(sorted(byOperation.json['rows'], 'operation'), [
    { operation: 'createPet', day, requests: 2, units: 2, returned: 0, limited: 0, banned: 0, failed: 1, final: false },
    { operation: 'listPets', day, requests: 1, units: 1, returned: 0, limited: 0, banned: 0, failed: 0, final: false },
  ]);
  t.same(byOperation.json['totals'], pro);
  const csv = await ask('GET', `/admin/v1/usage?${query}&by=plan&format=csv`);
  t.match(csv.headers['content-type'], 'text/csv');
  t.same(csv.text.trim().split('\r\n').sort(), [
    'free,60,60,0,2,0,0',
    'plan,requests,units,returned,limited,banned,failed',
    'pro,3,3,0,0,0,1',
    'total,63,63,0,2,0,1',
  ]);
});

t.test('a range without traffic is an empty report, not an error', async (t) => {
  const { ask } = await listen(t);
  const reply = await ask('GET', '/admin/v1/usage?from=2026-01-01&to=2026-01-31&by=key');
  t.same(reply.json, {
    from: '2026-01-01',
    to: '2026-01-31',
    by: ['key'],
    final: true,
    waitingFor: [],
    without: [],
    rows: [],
    totals: { requests: 0, units: 0, returned: 0, limited: 0, banned: 0, failed: 0 },
  });
  t.equal(
    (await ask('GET', '/admin/v1/usage?from=2026-01-01&to=2026-01-31&format=csv')).text,
    'plan,requests,units,returned,limited,banned,failed\r\ntotal,0,0,0,0,0,0\r\n',
  );
});

t.test('a day is final an hour after it ended: what was admitted before midnight may still fail', async (t) => {
  let nowMs = 0;
  const { ask } = await listen(t, {}, { clock: () => Promise.resolve(nowMs) });
  for (const [now, final] of [
    ['23:59', false],
    ['24:00', false],
    ['24:59', false],
    ['25:00', true],
  ] as const) {
    const [hours = 0, minutes = 0] = now.split(':').map(Number);
    nowMs = Date.UTC(2026, 10, 30, hours, minutes);
    t.match((await ask('GET', '/admin/v1/usage?from=2026-11-30&to=2026-11-30&by=day')).json, { final }, now);
  }
});

t.test('400: bad ranges and dimensions', async (t) => {
  const { ask } = await listen(t);
  for (const query of [
    'from=2026-02-30',
    'to=yesterday',
    'from=2026-02-02&to=2026-02-01',
    'by=',
    'by=kay',
    'by=key,key',
    'format=xml',
    'from=20260101',
    'from=1990-01-01',
    'by=key&by=plan',
    'customer=',
    `customer=${'x'.repeat(101)}`,
    'customer=a&key=b',
    'names=no',
  ]) {
    t.match(await ask('GET', `/admin/v1/usage?${query}`), { status: 400, json: { code: 'invalid_query' } }, query);
  }
  t.equal((await ask('GET', '/admin/v1/usage?key=abcdefghijkl')).status, 404);
  t.equal((await ask('GET', '/admin/v1/usage?customer=abcdefgh')).status, 404);
});

t.test('of one customer: the rows of its keys alone, by id or reference', async (t) => {
  const { ask, engine, registry } = await listen(t);
  const ids: string[] = [];
  for (const reference of ['C-1', 'C-2', 'twice', 'twice']) {
    const { id: customer } = await registry.customers.create({ plan: 'pro', name: 'shop', reference }, 'Max');
    ids.push(customer);
    for (const name of ['web', 'app']) {
      const { token } = await registry.create({ customer, name });
      await engine.admit([requestWith(token)]);
    }
  }
  const { token } = await registry.create({ plan: 'free', name: 'alone' });
  await engine.admit([requestWith(token)]);
  const rowsFor = async (customer: string) =>
    (await ask('GET', `/admin/v1/usage?by=customer,key&customer=${customer}`)).json['rows'] as readonly object[];
  for (const [place, asked] of [...ids.entries(), [0, 'C-1'], [1, 'C-2']] as const) {
    const rows = (await rowsFor(asked)) as readonly { readonly name: string }[];
    t.match(rows, [{ customer: ids[place], customerName: 'shop', requests: 1 }, { customer: ids[place] }], asked);
    t.same(rows.map(({ name }) => name).sort(), ['app', 'web']);
    t.equal(rows.length, 2);
  }
  const both = await ask('GET', '/admin/v1/usage?customer=twice');
  t.match(both, { status: 409, json: { message: /both have this reference: give the id of one/ } });
  for (const id of ids.slice(2)) t.match(both.json['message'], id);
});

t.test('a key that was erased has no name; who bills may read the others', async (t) => {
  const { ask, engine, registry } = await listen(t);
  const [kept, erased] = [
    await registry.create({ plan: 'free', name: 'Kept <b>' }),
    await registry.create({ plan: 'free', name: 'Ada' }),
  ];
  for (const { token } of [kept, erased]) await engine.admit([requestWith(token)]);
  await registry.revoke(erased.record.id);
  await eraseKey({ registry, engine }, erased.record.id, 'ops');
  const { token } = (await ask('POST', '/admin/v1/tokens', { name: 'bills', role: 'billing' })).json;
  const headers = bearer(token);
  const { json } = await ask('GET', '/admin/v1/usage?by=key', undefined, headers);
  const names = (json['rows'] as readonly { key: string; name: string }[]).map(({ key, name }) => [key, name] as const);
  t.same(
    new Map(names),
    new Map([
      [kept.record.id, 'Kept <b>'],
      [erased.record.id, ''],
    ]),
  );
  t.equal((await ask('GET', '/admin/v1/keys', undefined, headers)).status, 403, 'but not the keys themselves');
});

t.test('one row per key, however many days the range has', async (t) => {
  const { ask, engine, registry } = await listen(t);
  const made = await Promise.all(['A', 'B', 'C'].map((name) => registry.create({ plan: 'free', name })));
  const dayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  for (let back = 39; back >= 0; back -= 1) {
    await engine.admit(made.map(({ token }) => requestWith(token, { nowMs: dayMs - back * DAY_MS })));
  }
  const from = new Date(dayMs - 39 * DAY_MS).toISOString().slice(0, 10);
  const { json } = await ask('GET', `/admin/v1/usage?from=${from}&by=key`);
  t.same(
    json['rows'],
    made
      .map(({ record: { id: key, name } }) => ({ key, name }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .map((each) => ({ ...each, requests: 40, units: 40, returned: 0, limited: 0, banned: 0, failed: 0 })),
  );
  const byDay = await ask('GET', `/admin/v1/usage?from=${from}&by=day`);
  t.equal((byDay.json['rows'] as unknown[]).length, 40);
});

function sorted(rows: unknown, by: string): readonly Record<string, unknown>[] {
  return (rows as Record<string, unknown>[]).toSorted((a, b) => String(a[by]).localeCompare(String(b[by])));
}
