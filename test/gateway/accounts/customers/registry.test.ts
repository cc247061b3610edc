import t from 'tap';
import { linesOf, openBoth, openRegistry } from '../store.js';

const PRO = { name: 'Big shop', plan: 'pro' };

t.test('a change loses against another only until it is made again on what that left', async (t) => {
  const { customers } = openBoth(t).registry;
  const { id } = await customers.create(PRO, 'Zoë');
  await Promise.all(Array.from({ length: 5 }, (_, n) => customers.change(id, { note: `${n}` }, 'Zoë')));
  t.equal((await customers.get(id)).version, 6);
  t.same(
    (await customers.history(id)).map(({ actor }) => actor),
    new Array(6).fill('Zoë'),
  );
});

t.test('its history begins with what was said of it', async (t) => {
  const { customers } = openBoth(t).registry;
  const changed = async (body: object): Promise<unknown> => {
    const { id } = await customers.create({ ...PRO, ...body }, 'Zoë');
    return (await customers.history(id))[0]?.changed;
  };
  t.same(await changed({}), { ...PRO, limits: null });
  t.same(await changed({ reference: 'C-1', note: 'n' }), { ...PRO, reference: 'C-1', note: 'n', limits: null });
});

t.test('events of its keys name the customer, and the plan that holds', async (t) => {
  const { engine, registry } = openBoth(t, { emitsEvents: true });
  const { id: customer } = await registry.customers.create(PRO, 'Zoë');
  const { record } = await registry.create({ customer, name: 'x' });
  await registry.revoke(record.id);
  const { entries } = await engine.outbox.list('waiting', null, 10);
  t.same(
    // Both may be of one millisecond.
    entries.map(({ event: { type, data } }) => ({ type, ...data })).sort((a, b) => (a.type < b.type ? -1 : 1)),
    ['created', 'revoked'].map((what) => ({ type: `petgate.key.${what}`, customer, key: record.id, plan: 'pro' })),
  );
});

t.test('keys of a customer: so many, and none of another form', async (t) => {
  const { engine, registry } = openBoth(t, { acceptImported: true });
  const { id: customer } = await registry.customers.create(PRO, 'Zoë');
  const { record } = await registry.create({ customer, name: 'x' });
  t.same([record.plan, record.limits], ['', null], "they are the customer's");
  t.match(await registry.effective(record), { id: record.id, plan: 'pro' });
  await t.rejects(registry.create({ customer, name: 'x', key: 'old-key-0123456789' }), /can't belong to a customer/);
  const lines = linesOf([{ id: record.id, hash: 'f'.repeat(64), plan: 'free', name: 'x' }]);
  await t.rejects(registry.import(lines), /keys of a customer can't be imported/);
  const full = { ...engine, customers: { ...engine.customers, keyCount: () => Promise.resolve(10_000) } };
  await t.rejects(openRegistry(full).create({ customer, name: 'x' }), /already has 10000 keys/);
  t.same(
    (await registry.keysOf(customer)).map(({ id }) => id),
    [record.id],
  );
});
