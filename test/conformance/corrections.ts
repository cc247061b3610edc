import type { Test } from 'tap';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import { correctionsIn } from '../../src/gateway/store/records/correction.js';
import { eraseKey } from '../../src/gateway/accounts/keys/erase.js';
import { KeyRegistry } from '../../src/gateway/accounts/keys/registry.js';
import { ask, dayName, keyOf, newCustomer, newKey, PLANS, rowsOf } from './cast.js';

/** What is said of usage afterwards stands in the history of whom it is about. */
export function corrections(t: Test, engine: AdmissionEngine): void {
  const registry = new KeyRegistry({
    ...{ engine, plans: () => PLANS, scopes: [], costs: new Map(), environment: 'staging', acceptImported: false },
  });
  const day = dayName(Date.now());

  t.test('a correction is found by whom it is about, and what was counted stays', async (t) => {
    const customer = await newCustomer(engine, 'free');
    const key = await keyOf(engine, customer.id);
    const lone = await newKey(engine, 'free');
    await ask(engine, key, Date.now());
    const counted = await rowsOf(engine, day, day, key.id);
    const body = { day, units: -1, requests: -1, reason: 'an outage', plan: 'free' };
    await registry.correct(key.id, { ...body, id: 'a' }, 'ops');
    await registry.customers.correct(customer.id, { ...body, units: 7 }, 'ops');
    await registry.correct(lone.id, body, 'ops');
    t.same(await rowsOf(engine, day, day, key.id), counted);
    for (const [store, id] of [
      [engine.keys, key.id],
      [engine.customers, customer.id],
      [engine.keys, lone.id],
    ] as const) {
      const before = id.slice(0, -1) + String.fromCharCode(id.charCodeAt(id.length - 1) - 1);
      t.same(await store.corrected(before, 1), [id], 'in the order of ids, behind another');
      t.ok((await store.corrected(null, 1_000)).includes(id));
      t.match(correctionsIn(await store.history(id)), [{ day, plan: 'free', requests: -1, actor: 'ops' }]);
    }
    t.notOk((await engine.keys.corrected(null, 1_000)).includes(customer.id));
    t.match(await ask(engine, key, Date.now()), { outcome: 'admitted' }, 'and admission knows nothing of it');
  });

  t.test('the same id corrects once, also of two at the same time; another content under it is refused', async (t) => {
    const { id } = await newKey(engine, 'free');
    const body = { day, units: 5, reason: 'x', id: 'M-1', plan: 'free' };
    const made = await Promise.all([1, 2, 3].map(() => registry.correct(id, body, 'ops')));
    t.same(new Set(made.map(({ atMs }) => atMs)).size, 1);
    t.equal(correctionsIn(await engine.keys.history(id)).length, 1);
    for (const other of [{ units: 6 }, { plan: 'pro' }, { reason: 'y' }])
      await t.rejects(registry.correct(id, { ...body, ...other }, 'ops'), {
        kind: 'correction_exists',
        message: /M-1/,
      });
    await registry.correct(id, { ...body, id: 'M-2' }, 'ops');
    t.same(
      correctionsIn(await engine.keys.history(id)).map((one) => one.id),
      ['M-1', 'M-2'],
    );
  });

  t.test('the same id for a key and its customer counts once, whichever comes first', async (t) => {
    const customer = await newCustomer(engine, 'free');
    const [one, other] = [await keyOf(engine, customer.id), await keyOf(engine, customer.id)];
    const body = { day, units: 5, reason: 'x', id: 'M-1', plan: 'free' };
    const exists = { kind: 'correction_exists', message: new RegExp(`${one.id}.*${customer.id}`) };
    await registry.correct(one.id, body, 'ops');
    await t.rejects(registry.customers.correct(customer.id, body, 'ops'), exists);
    await registry.customers.correct(customer.id, { ...body, id: 'M-2' }, 'ops');
    await t.rejects(registry.correct(other.id, { ...body, id: 'M-2' }, 'ops'), { ...exists, message: /M-2/ });
    const both = await Promise.allSettled([
      registry.correct(one.id, { ...body, id: 'M-3' }, 'ops'),
      registry.customers.correct(customer.id, { ...body, id: 'M-3' }, 'ops'),
    ]);
    t.same(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  });

  t.test('sixty corrections of one key at the same time, by two gateways, are all made', async (t) => {
    const { id } = await newKey(engine, 'free');
    const second = new KeyRegistry({
      ...{ engine, plans: () => PLANS, scopes: [], costs: new Map(), environment: 'staging', acceptImported: false },
    });
    const body = { day, units: 1, reason: 'x', plan: 'free' };
    await Promise.all(
      Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? registry : second).correct(id, body, `ops ${n}`)),
    );
    t.equal(correctionsIn(await engine.keys.history(id)).length, 60);
  });

  t.test('erasing takes the reason, and leaves the figures; they move with the record', async (t) => {
    const { id } = await newKey(engine, 'free');
    await registry.correct(id, { day, units: 5, reason: 'Ada called', id: 'M-1', plan: 'free' }, 'ops');
    await registry.revoke(id, 'ops');
    await registry.correct(id, { day, requests: 2, reason: 'Ada wrote', id: 'M-2', plan: 'pro' }, 'ops');
    await eraseKey({ registry, engine }, id, 'ops');
    const figures = [
      { id: 'M-1', day, plan: 'free', requests: 0, units: 5, reason: '' },
      { id: 'M-2', day, plan: 'pro', requests: 2, units: 0, reason: '' },
    ];
    t.match(correctionsIn(await engine.keys.history(id)), figures);
    const before = id.slice(0, -1) + String.fromCharCode(id.charCodeAt(id.length - 1) - 1);
    const [snapshot] = await engine.keys.snapshots(before, 1, day);
    const other = `${id.slice(0, -1)}~`;
    await engine.keys.restore([{ ...snapshot!, record: { ...snapshot!.record, id: other }, usage: [] }]);
    t.same(await engine.keys.corrected(id, 1_000).then((ids) => ids.includes(other)), true);
    t.match(correctionsIn(await engine.keys.history(other)), figures);
  });
}
