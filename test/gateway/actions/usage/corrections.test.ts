import t from 'tap';
import type { Test } from 'tap';
import { dayOf } from '../../../../src/shared/utc-day.js';
import { operator } from '../../../cli/operator.js';
import { PLANS, requestWith } from '../../accounts/store.js';
import { listen, type Listener } from '../../admin/listener.js';

type Row = Readonly<Record<string, unknown>>;

const TODAY = dayOf(Date.now());
const CORRECTIONS = '/admin/v1/usage/corrections';

/** A customer with a key that was admitted three times, and a key without one. */
async function stage(t: Test) {
  const listener = await operator(t);
  const { registry, engine } = listener;
  const customer = await registry.customers.create({ name: 'Acme', plan: 'free', reference: 'C-1' }, 'test');
  const { token, record: key } = await registry.create({ customer: customer.id, name: 'shop' });
  const { record: lone } = await registry.create({ plan: 'pro', name: 'lone' });
  await engine.admit(Array.from({ length: 3 }, () => requestWith(token)));
  return { ...listener, customer: customer.id, key: key.id, lone: lone.id };
}

async function rowsOf({ ask }: Pick<Listener, 'ask'>, by: string, more = ''): Promise<readonly Row[]> {
  const { json } = await ask('GET', `/admin/v1/usage?from=${TODAY}&to=${TODAY}&by=${by}${more}`);
  return json['rows'] as readonly Row[];
}

t.test('a correction stands in every report beside what was counted, which stays', async (t) => {
  const { ask, customer, key, lone, ...listener } = await stage(t);
  t.notOk('correctedUnits' in (await rowsOf({ ask }, 'plan'))[0]!, 'no column before the first one');
  const correct = (body: Row) => ask('POST', CORRECTIONS, { day: TODAY, reason: 'an outage', ...body });
  t.match(await correct({ key, units: -2, requests: -1, id: 'M-1' }), {
    status: 201,
    json: { id: 'M-1', key, customer, day: TODAY, plan: 'free', units: -2, requests: -1, reason: 'an outage' },
  });
  t.equal((await correct({ key, units: -2, requests: -1, id: 'M-1' })).status, 201, 'sent again it is taken once');
  t.match(await correct({ customer: 'C-1', units: 10 }), { status: 201, json: { key: null, customer } });
  t.match(await correct({ key: lone, units: 4 }), { status: 201, json: { key: lone, customer: null, plan: 'pro' } });

  const counted = { requests: 3, units: 3, returned: 0, limited: 0 };
  t.match(await rowsOf({ ask }, 'plan'), [
    { plan: 'free', ...counted, correctedRequests: -1, correctedUnits: 8 },
    { plan: 'pro', requests: 0, units: 0, correctedRequests: 0, correctedUnits: 4 },
  ]);
  const byCustomer = await rowsOf({ ask }, 'customer');
  t.match(
    byCustomer.find((row) => row['customer'] === customer),
    { ...counted, name: 'Acme', correctedRequests: -1, correctedUnits: 8 },
  );
  t.match(await rowsOf({ ask }, 'key', `&customer=${customer}`), [
    { key: customer, name: 'Acme', units: 0, correctedUnits: 10 },
    { key, name: 'shop', ...counted, correctedUnits: -2 },
  ]);
  t.match(await rowsOf({ ask }, 'key', `&key=${key}`), [{ key, ...counted, correctedUnits: -2 }]);
  const { json } = await ask('GET', `/admin/v1/usage?from=${TODAY}&to=${TODAY}`);
  t.match(json['totals'], { ...counted, correctedRequests: -1, correctedUnits: 12 });
  t.notOk('correctedUnits' in (await rowsOf({ ask }, 'plan', '&corrections=false'))[0]!);
  const csv = (await ask('GET', `/admin/v1/usage?from=${TODAY}&to=${TODAY}&by=plan&format=csv`)).text;
  t.equal(csv.split('\r\n')[0], 'plan,requests,units,returned,limited,banned,failed,correctedRequests,correctedUnits');
  t.match(await listener.engine.keys.history(key), [{}, { action: 'corrected', changed: { units: -2 } }]);
});

t.test('what is wrong with a correction is said, and nothing is changed', async (t) => {
  const { ask, key, customer, registry } = await stage(t);
  const refused = async (body: Row): Promise<string> => {
    const { status, json } = await ask('POST', CORRECTIONS, { day: TODAY, reason: 'x', units: 1, ...body });
    return `${status} ${String(json['message'])}`;
  };
  t.match(await refused({}), /^400 .*either key or customer/);
  t.match(await refused({ key, customer }), /^400 .*either key or customer/);
  t.match(await refused({ key: 'nobody000000' }), /^404/);
  t.match(await refused({ customer: 'nobody' }), /^404/);
  t.match(await refused({ key, day: '2026-02-31' }), /^400 .*day.*such as/);
  t.match(await refused({ key, day: dayOf(Date.now() + 2 * 86_400_000) }), /^400 .*future/);
  t.match(await refused({ key, units: 0 }), /^400 .*other than 0/);
  t.match(await refused({ key, units: 1.5 }), /^400 .*whole number/);
  t.match(await refused({ key, units: 1e13 }), /^400 .*whole number/);
  t.match(await refused({ key, reason: ' ' }), /^400 .*reason/);
  t.match(await refused({ key, reason: 'x'.repeat(501) }), /^400 .*501/);
  t.match(await refused({ key, id: 'a b' }), /^400 .*id/);
  t.match(await refused({ key, day: '2020-01-01' }), /^400 .*plan.*none/, 'before there was a plan');
  t.match(await refused({ key, unit: 1 }), /^400 .*units/);
  t.equal((await registry.history(key)).length, 1);
});

t.test('a repeated id with another content is refused, and both are named', async (t) => {
  const { ask, key, customer } = await stage(t);
  const body = { day: TODAY, units: -2, reason: 'an outage', id: 'M-1' };
  t.equal((await ask('POST', CORRECTIONS, { key, ...body })).status, 201);
  t.equal((await ask('POST', CORRECTIONS, { key, ...body, plan: 'free' })).status, 201, 'its plan named is the same');
  const refused = async (more: Row) => ask('POST', CORRECTIONS, { ...body, ...more });
  for (const more of [{ key, plan: 'pro' }, { key, reason: 'by mail' }, { key, units: 7 }, { customer }]) {
    const { status, json } = await refused(more);
    t.match({ status, code: json['code'] }, { status: 409, code: 'correction_exists' });
    const other = 'customer' in more ? `customer ${customer}` : String(Object.values(more)[1]);
    t.match(json['message'], `-2 units and 0 requests of key ${key} on ${TODAY}, plan free, "an outage"`);
    t.match(json['message'], new RegExp(`this one says: .*${other}`));
  }
});

t.test('a plan that nothing knows is refused; one that the payer had, or was counted on, is taken', async (t) => {
  const plans = new Map(PLANS);
  const { ask, registry, engine } = await listen(t, {}, { plans: () => plans });
  const { record } = await registry.create({ plan: 'pro', name: 'k' });
  await registry.change(record.id, { plan: 'free' });
  const { record: counted } = await registry.create({ plan: 'free', name: 'counted' });
  const counts = { requests: 1, units: 1, returned: 0, limited: 0, banned: 0, failed: 0 };
  await engine.transfer.raise([{ key: counted.id, day: TODAY, plan: 'gold', operation: 'listPets', ...counts }]);
  const correct = async (plan: string, key = record.id): Promise<unknown> =>
    (await ask('POST', CORRECTIONS, { key, day: TODAY, units: 1, reason: 'x', plan })).json['message'] ?? 'made';
  t.match(await correct('fre'), /plan: "fre" is not in force.*history.*ledger/);
  t.match(await correct('anonymous'), /not in force/, 'the plan of callers without a key');
  plans.delete('pro');
  t.equal(await correct('pro'), 'made', 'it had it');
  t.match(await correct('pro', counted.id), /not in force/, 'another had it');
  t.equal(await correct('gold', counted.id), 'made', 'it was counted on it');
  t.match(await correct('gold'), /not in force/);
});

t.test('they are listed, a page at a time, and by the command line', async (t) => {
  const { ask, key, customer, lone, ...from } = await stage(t);
  const run = (...args: readonly string[]) => from.run('usage', ...args);
  t.match(await run('corrections'), { code: 0, stdout: /No corrections/ });
  const reason = ['--reason', 'an outage', '--day', TODAY];
  t.match(await run('correct', '--customer', 'C-1', '--units', '-250', ...reason), {
    ...{ code: 0, stderr: '', stdout: new RegExp(`of customer ${customer} on ${TODAY}, plan free: -250 units`) },
  });
  t.match(await run('correct', '--key', key, '--requests', '+3', ...reason), { code: 0, stdout: /\+3 requests/ });
  t.match(await run('correct', '--key', lone, '--units', '5', '--id', 'M-7', ...reason), { code: 0 });
  t.match(await run('correct', '--key', lone, '--units', 'five', ...reason), { code: 1, stderr: /units: must be/ });
  const listed = await run('corrections');
  t.match(listed.stdout, new RegExp(`M-7 +- +${lone} +${TODAY} +pro +0 +5 +an outage`));
  t.equal(listed.stdout.trim().split('\n').length, 4);
  t.match(await run('--by', 'customer'), { code: 0, stdout: /correctedUnits/ });

  const [first, second] = [await ask('GET', `${CORRECTIONS}?limit=1`), await ask('GET', `${CORRECTIONS}?key=${key}`)];
  t.match(first.json, { corrections: [{ customer, key: null, units: -250 }], cursor: /./ });
  const rest = await ask('GET', `${CORRECTIONS}?cursor=${String(first.json['cursor'])}`);
  t.same(new Set((rest.json['corrections'] as readonly Row[]).map((one) => one['key'])), new Set([key, lone]));
  t.match(second.json, { corrections: [{ key, requests: 3 }], cursor: null });
  t.match((await ask('GET', `${CORRECTIONS}?to=2020-01-01`)).json, { corrections: [] });
  t.match((await ask('GET', `${CORRECTIONS}?customer=C-1`)).json['corrections'], { length: 2 });
});
