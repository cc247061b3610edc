import type { Snapshot } from '../../src/gateway/store/records/record.js';
import type { Test } from 'tap';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import type { KeyRecord } from '../../src/gateway/store/records/key.js';
import { ask, askMany, change, dayName, keyOf, newCustomer, newKey, rowsOf, startBan, type Actor } from './cast.js';
import { CREATE } from './names.js';

const DAY_MS = 86_400_000;

/** What is in a store leaves it as one snapshot a record, and comes in again, here or elsewhere. */
export function transfer(t: Test, engine: AdmissionEngine): void {
  t.test('a snapshot has all of a key, and once more changes nothing', async (t) => {
    const nowMs = Date.now();
    const key = await newKey(engine, 'priced');
    await ask(engine, key, nowMs, { operation: CREATE });
    await startBan(engine, key, nowMs + DAY_MS, { reason: 'too much', actor: 'ops' });
    const snapshot = await snapshotOf(engine, key);
    t.match(snapshot, {
      ...{ record: key.record, history: await engine.keys.history(key.id) },
      banNote: { untilMs: nowMs + DAY_MS, reason: 'too much', actor: 'ops' },
      state: { day: { level: 5 * DAY_MS }, month: { level: 5 }, bannedUntilMs: nowMs + DAY_MS, banLevel: 1 },
      usage: [{ key: key.id, operation: CREATE, requests: 1, units: 5 }],
    });
    t.match(snapshot.state.operationWindows?.get(`${CREATE}-day`), { level: 5 * DAY_MS });
    t.same(await engine.keys.restore([snapshot]), ['unchanged']);
    t.same(await snapshotOf(engine, key), snapshot);
  });

  t.test('a snapshot of another id is a key as good, with what it has spent, but for the minute', async (t) => {
    const nowMs = Date.now();
    const key = await newKey(engine, 'free');
    await askMany(engine, key, 2, nowMs);
    const copy = copied(await snapshotOf(engine, key));
    t.same(await engine.keys.restore([copy]), ['added']);
    const other: Actor = {
      ...key,
      id: copy.record.id,
      subject: { ...key.subject, id: copy.record.id } as Actor['subject'],
    };
    t.same(await engine.keys.page(before(other.id), 1), [copy.record], 'it is listed');
    t.match(await ask(engine, other, nowMs), { outcome: 'admitted', windows: [{ remaining: 59 }, { remaining: 997 }] });
    t.match(await rowsOf(engine, dayName(nowMs), dayName(nowMs), other.id), [{ requests: 3 }]);
  });

  t.test('of two figures the larger one holds; a newer record stays, an older one follows', async (t) => {
    const nowMs = Date.now();
    const key = await newKey(engine, 'free');
    await ask(engine, key, nowMs);
    const first = await snapshotOf(engine, key);
    await askMany(engine, key, 3, nowMs);
    await change(engine, key, { note: 'later' });
    const second = await snapshotOf(engine, key);
    t.same(await engine.keys.restore([first]), ['newer']);
    t.same(await snapshotOf(engine, key), second);
    const copies = [copied(first), copied(second)] as const;
    t.same(await engine.keys.restore([copies[0]]), ['added']);
    t.same(await engine.keys.restore([copies[1]]), ['changed']);
    t.same(await engine.keys.restore([copies[1]]), ['unchanged']);
    const { state, ...rest } = await snapshotOf(engine, { id: copies[1].record.id });
    t.same({ ...rest, state: copies[1].state }, copies[1], 'all of it');
    t.equal(state.day.level, 4 * DAY_MS);
    const foreign = { ...second, history: second.history.map((entry) => ({ ...entry, atMs: 1 })) };
    t.same(await engine.keys.restore([foreign]), ['different']);
    t.same(await snapshotOf(engine, key), second, 'and is not touched');
  });

  t.test('automatic bans come along, of both sides and each once, also where nothing else is new', async (t) => {
    const nowMs = Date.now();
    const key = await newKey(engine, 'strict');
    const before = await snapshotOf(engine, key);
    await askMany(engine, key, 8, nowMs);
    const after = await snapshotOf(engine, key);
    t.match(after.history, [{ action: 'created' }, { action: 'banned', actor: 'petgate' }]);
    t.same(await engine.keys.restore([before]), ['unchanged']);
    t.same(await engine.keys.history(key.id), after.history, 'none is taken');
    const copies = [copied(before), copied(after)] as const;
    const { id } = copies[0].record;
    t.same(await engine.keys.restore([copies[0]]), ['added']);
    t.same(await engine.keys.restore([copies[1]]), ['changed']);
    t.same(await engine.keys.restore([copies[1]]), ['unchanged']);
    t.same(await engine.keys.history(id), after.history);
    const ban = (atMs: number) =>
      ({
        atMs,
        actor: 'petgate',
        action: 'banned',
        changed: { until: new Date(atMs + 9).toISOString(), level: 2 },
      }) as const;
    const other = { ...copies[1], history: [...before.history, ban(nowMs - 5), ban(nowMs + 5)] };
    t.same(await engine.keys.restore([other]), ['changed']);
    t.same(await engine.keys.history(id), [...before.history, ban(nowMs - 5), after.history[1], ban(nowMs + 5)]);
    const copy: Actor = { ...key, id, record: copies[1].record };
    await change(engine, copy, { note: 'later' });
    t.equal((await engine.keys.history(id)).length, 5);
    t.same(await engine.keys.restore([other]), ['newer']);
    t.same((await engine.keys.history(id)).at(-1)?.action, 'changed');
  });

  t.test('the keys of a customer share what it has spent', async (t) => {
    const nowMs = Date.now();
    const customer = await newCustomer(engine, 'free');
    const key = await keyOf(engine, customer.id);
    await askMany(engine, key, 4, nowMs);
    const [snapshot] = await engine.customers.snapshots(before(customer.id), 1, dayName(nowMs));
    t.match(snapshot, { record: customer, banNote: null, usage: [], state: { day: { level: 4 * DAY_MS } } });
    const id = `${customer.id.slice(0, -1)}Z`;
    t.same(await engine.customers.restore([{ ...snapshot!, record: { ...customer, id } }]), ['added']);
    t.match(await ask(engine, await keyOf(engine, id), nowMs), {
      outcome: 'admitted',
      windows: [{}, { remaining: 995 }],
    });
  });

  t.test('counts only grow, by row, and the days before are read', async (t) => {
    const nowMs = Date.now();
    const { id } = await newKey(engine, 'free');
    const day = dayName(nowMs - 40 * DAY_MS);
    const row = {
      key: id,
      plan: 'free',
      operation: 'GET /a b',
      day,
      requests: 5,
      units: 9,
      returned: 4,
      limited: 1,
      banned: 0,
      failed: 2,
    };
    t.equal(await engine.transfer.raise([row, { ...row, day: dayName(nowMs - DAY_MS) }]), 2);
    t.equal(await engine.transfer.raise([row, { ...row, requests: 2, units: 3 }]), 0);
    t.equal(await engine.transfer.raise([{ ...row, requests: 4, units: 8, returned: 3, limited: 3 }]), 1);
    t.same(await rowsOf(engine, day, day, id), [{ ...row, limited: 3 }]);
    const read = [];
    for await (const rows of engine.transfer.rowsBefore(dayName(nowMs)))
      read.push(...rows.filter(({ key }) => key === id));
    t.same(
      read.map((each) => each.day),
      [day, dayName(nowMs - DAY_MS)],
    );
  });
}

async function snapshotOf(engine: AdmissionEngine, { id }: Pick<Actor, 'id'>): Promise<Snapshot<KeyRecord>> {
  const [snapshot] = await engine.keys.snapshots(before(id), 1, dayName(Date.now()));
  return snapshot!;
}

/** The same of another key. */
function copied({ record, usage, ...rest }: Snapshot<KeyRecord>): Snapshot<KeyRecord> {
  const id = `${record.id.slice(0, -2)}ZZ`;
  return { ...rest, record: { ...record, id }, usage: usage.map((row) => ({ ...row, key: id })) };
}

/** What sorts right before an id. */
function before(id: string): string {
  return id.slice(0, -1) + String.fromCharCode(id.charCodeAt(id.length - 1) - 1) + '~';
}
