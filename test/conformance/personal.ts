import type { Test } from 'tap';
import { banEvent } from '../../src/gateway/store/records/facts.js';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import { eraseCustomer, eraseKey } from '../../src/gateway/accounts/keys/erase.js';
import { KeyRegistry } from '../../src/gateway/accounts/keys/registry.js';
import {
  ask,
  askMany,
  change,
  changeCustomer,
  dayName,
  keyOf,
  newCustomer,
  newKey,
  NOON_MS,
  PLANS,
  rowsOf,
  startBan,
} from './cast.js';
import { toldOf } from './told.js';

/** What is known of people is forgotten. */
export function personal(t: Test, engine: AdmissionEngine): void {
  const registry = new KeyRegistry({
    engine,
    plans: () => PLANS,
    scopes: [],
    costs: new Map(),
    environment: 'staging',
    acceptImported: false,
  });
  const parts = { registry, engine };

  t.test('a record and all of its history are replaced in one step, by the next version alone', async (t) => {
    const key = await newKey(engine, 'free', { name: 'Ada' });
    await change(engine, key, { note: 'calls at night' });
    const record = { ...key.record, name: '', note: '', version: 3 };
    const line = { atMs: NOON_MS, actor: 'ops', action: 'erased', changed: {} } as const;
    await t.rejects(engine.keys.rewrite({ ...record, version: 2 }, [line]), { name: 'VersionConflict' });
    t.equal((await engine.keys.history(key.id)).length, 2);
    const lines = [...(await engine.keys.history(key.id)).map((entry) => ({ ...entry, changed: {} })), line];
    await engine.keys.rewrite(record, lines);
    t.same(await engine.keys.read(key.id), record);
    t.same(await engine.keys.history(key.id), lines);
    await t.rejects(engine.keys.rewrite(record, lines), { name: 'VersionConflict' });
    await change(engine, { ...key, record }, { status: 'revoked' });
    t.equal((await engine.keys.history(key.id)).length, 4, 'and it goes on from there');
  });

  t.test('a key: only a revoked one, and again at will', async (t) => {
    const key = await newKey(engine, 'free', { name: 'Ada', note: 'calls at night' });
    await ask(engine, key, NOON_MS);
    const reason = 'Ada asked for it';
    const event = banEvent(key.id, 'free', { untilMs: NOON_MS, level: 1, reason }, NOON_MS);
    await startBan(engine, key, NOON_MS, { reason, actor: 'ops' }, { emit: [event], withdraw: [] });
    t.match(await toldOf(engine, key.id), [event]);
    await change(engine, key, {
      grants: [{ id: 2, window: 'day', units: 5, untilMs: NOON_MS, note: 'for Ada', actor: 'ops', atMs: 0 }],
    });
    await t.rejects(eraseKey(parts, key.id, 'ops'), { name: 'KeyRefused', message: 'petgate keys revoke' });
    await registry.revoke(key.id, 'ops');
    await eraseKey(parts, key.id, 'privacy');
    await eraseKey(parts, key.id, 'privacy');
    const record = await engine.keys.read(key.id);
    t.match(record, { id: key.id, plan: 'free', name: '', note: '', status: 'revoked' });
    const history = await engine.keys.history(key.id);
    t.same(
      history.map(({ action }) => action),
      ['created', 'banned', 'changed', 'revoked', 'erased', 'erased'],
    );
    t.equal(history.at(-1)?.actor, 'privacy');
    t.notMatch(JSON.stringify([record, history, await engine.bans.read(key.id)]), /"Ada"|for Ada|Ada asked|night/);
    t.match((await engine.bans.read(key.id))?.untilMs, NOON_MS, 'the ban itself stays');
    t.same(await toldOf(engine, key.id), []);
    t.match(await rowsOf(engine, dayName(NOON_MS), dayName(NOON_MS), key.id), [{ requests: 1 }]);
  });

  t.test('what a key was banned for by itself says nothing of a person, and stays', async (t) => {
    const key = await newKey(engine, 'strict', { name: 'Ada' });
    await askMany(engine, key, 8, NOON_MS);
    await registry.revoke(key.id, 'ops');
    // With Redis it may come to the history behind the change that came after it.
    const bansIn = async () => (await engine.keys.history(key.id)).filter(({ actor }) => actor === 'petgate');
    const banned = await bansIn();
    await eraseKey(parts, key.id, 'privacy');
    t.match(banned, [{ changed: { level: 1, reason: 'too many requests after 429' } }]);
    t.same(await bansIn(), banned);
  });

  t.test('a customer: only a closed one, with all its keys', async (t) => {
    const customer = await newCustomer(engine, 'free', { name: 'Ada & Sons', reference: 'ADA-1', note: 'net 30' });
    const keys = [await keyOf(engine, customer.id, { name: 'Ada web' }), await keyOf(engine, customer.id)];
    await changeCustomer(engine, customer, { name: 'Ada & Daughters' });
    await t.rejects(eraseCustomer(parts, customer.id, 'ops'), {
      name: 'KeyRefused',
      message: 'petgate customers close',
    });
    await t.rejects(eraseKey(parts, keys[0]!.id, 'ops'), { name: 'KeyRefused' });
    t.equal((await engine.keys.read(keys[0]!.id))?.name, 'Ada web', 'nothing was done');
    await registry.customers.close(customer.id, 'ops');
    await eraseCustomer(parts, customer.id, 'privacy');
    const record = await engine.customers.read(customer.id);
    t.match(record, { name: '', reference: '', note: '', plan: 'free', status: 'closed' });
    const history = await engine.customers.history(customer.id);
    t.same(
      history.map(({ action, changed }) => [action, 'name' in changed ? changed['name'] : undefined]),
      [
        ['created', undefined],
        ['changed', null],
        ['closed', undefined],
        ['erased', undefined],
      ],
    );
    const all = [record, history, ...(await Promise.all(keys.map(({ id }) => engine.keys.read(id))))];
    // Not `Ada` alone: a hash may hold these letters.
    t.notMatch(JSON.stringify(all), /Ada |ADA-1|net 30/);
    await eraseCustomer(parts, customer.id, 'privacy');
  });
}
