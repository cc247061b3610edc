import type { Test } from 'tap';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import { VersionConflict } from '../../src/gateway/store/records/conflicts.js';
import type { KeyRecord } from '../../src/gateway/store/records/key.js';
import type { Snapshot } from '../../src/gateway/store/records/record.js';
import { firstSnapshot } from '../../src/gateway/store/records/snapshot.js';
import { keyRecord } from '../gateway/admission/key-record.js';
import { ask, askMany, change, count, freshId, newKey, NOON_MS, type Actor } from './cast.js';

/** The key store: port.ts, KeyStore. */
export function keys(t: Test, engine: AdmissionEngine): void {
  t.test('a record comes back as it was written', async (t) => {
    const full: Partial<KeyRecord> = {
      name: 'Zoë’s “shop” \n % {x} 🐾',
      note: '|:, \'"\\ ',
      expiresAtMs: NOON_MS,
      scopes: ['pets:read', 'pets:write'],
      limits: { minute: 5_000, day: 'unlimited' },
      secrets: [
        { hash: 'a-_b', endsAtMs: NOON_MS + 1 },
        { hash: 'c', endsAtMs: null },
      ],
    };
    for (const changes of [
      {},
      full,
      { ...full, scopes: [], secrets: [] },
      { status: 'disabled', scopes: null } as const,
    ]) {
      const key = await newKey(engine, 'free', changes);
      t.same(await engine.keys.read(key.id), key.record);
      await change(engine, key, { plan: 'pro', limits: null, expiresAtMs: null });
      t.same(await engine.keys.read(key.id), key.record, 'and after a change');
    }
    t.equal(await engine.keys.read(freshId()), undefined);
  });

  t.test('of two changes to one version the second loses, and leaves nothing', async (t) => {
    const key = await newKey(engine, 'free');
    const mine = { ...key.record, plan: 'pro', version: 2 };
    const yours = { ...key.record, plan: 'calm', version: 2 };
    const entry = { atMs: NOON_MS, action: 'changed', changed: {} } as const;
    const outcomes = await Promise.allSettled([engine.keys.write(mine, entry), engine.keys.write(yours, entry)]);
    t.same(outcomes.map((each) => each.status).sort(), ['fulfilled', 'rejected']);
    const lost = outcomes.find((each) => each.status === 'rejected');
    t.ok(lost?.reason instanceof VersionConflict);
    t.equal((await engine.keys.read(key.id))?.version, 2);
    t.equal((await engine.keys.history(key.id)).length, 2);
    for (const version of [1, 2, 4])
      await t.rejects(
        engine.keys.write({ ...mine, version }, entry),
        { name: 'VersionConflict' },
        `version ${version}`,
      );
    await t.rejects(
      engine.keys.write({ ...mine, id: freshId(), version: 2 }, entry),
      { name: 'VersionConflict' },
      'nothing there to change',
    );
  });

  t.test('a list is a chain of pages that has every key once, by id', async (t) => {
    const made = await Promise.all(Array.from({ length: 150 }, () => newKey(engine, 'free')));
    // A name in the index whose record was never written must not end the list early.
    await t.rejects(
      engine.keys.write(
        { ...made[0]!.record, id: made[0]!.id, version: 1 },
        { atMs: 0, action: 'created', changed: {} },
      ),
    );
    const seen: string[] = [];
    for (const count of [7, 64, 100]) {
      seen.length = 0;
      let after: string | null = null;
      for (;;) {
        const page: readonly KeyRecord[] = await engine.keys.page(after, count);
        seen.push(...page.map((record) => record.id));
        if (page.length < count) break;
        after = page.at(-1)?.id ?? null;
      }
      t.same(seen, [...new Set(seen)].sort(), `pages of ${count}`);
      t.ok(made.every((key) => seen.includes(key.id)));
    }
    t.same(await engine.keys.page('~', 10), []);
  });

  t.test('the history has every change in order', async (t) => {
    const key = await newKey(engine, 'free');
    await change(engine, key, { plan: 'pro' });
    await change(engine, key, { status: 'disabled' });
    t.same(
      (await engine.keys.history(key.id)).map((entry) => entry.changed),
      [{ plan: 'free' }, { plan: 'pro' }, { status: 'disabled' }],
    );
    t.same(await engine.keys.history(freshId()), []);
  });

  t.test('of many keys those are added that are not there; each is good, listed, and has its history', async (t) => {
    const there = await newKey(engine, 'free');
    const fresh = Array.from({ length: 150 }, () => incoming());
    t.same(await engine.keys.restore([]), []);
    t.same(await engine.keys.restore([...fresh, incoming(there.id)]), [...fresh.map(() => 'added'), 'different']);
    t.same(await engine.keys.restore(fresh.slice(0, 3)), Array(3).fill('unchanged'), 'once more changes nothing');
    t.same(await engine.keys.read(there.id), there.record);
    const [first, second] = fresh as [Incoming, Incoming];
    t.same(await engine.keys.read(first.id), first.record);
    t.same(await engine.keys.history(first.id), first.history);
    for (const { record } of fresh)
      t.same(await engine.keys.page(beforeId(record.id), 1), [record], `${record.id} is listed`);
    t.equal(count(await askMany(engine, second, 3, NOON_MS), 'admitted'), 3);
    await change(engine, second, { plan: 'free' });
    t.match(await ask(engine, second, NOON_MS), { outcome: 'admitted', plan: 'free' });
  });

  t.test('keys that two bring in at once are added once', async (t) => {
    const fresh = Array.from({ length: 50 }, () => incoming());
    const [mine, yours] = await Promise.all([engine.keys.restore(fresh), engine.keys.restore([...fresh].reverse())]);
    for (const n of fresh.keys()) t.same([mine[n], yours[fresh.length - 1 - n]].sort(), ['added', 'unchanged']);
    for (const { id } of fresh) t.equal((await engine.keys.history(id)).length, 1);
  });
}

type Incoming = Actor & Snapshot<KeyRecord>;

export function incoming(id = freshId()): Incoming {
  const secretHash = Buffer.from(`hash of ${id}`).toString('base64url');
  const secrets = [{ hash: secretHash, endsAtMs: null }];
  const record = keyRecord(id, { plan: 'pro', name: `imported ${id}`, secrets });
  const entry = { atMs: 7, action: 'imported', changed: { plan: record.plan } } as const;
  return { id, ...firstSnapshot(record, entry), subject: { kind: 'key', id, secretHash } };
}

/** What sorts right before an id. */
function beforeId(id: string): string {
  return id.slice(0, -1) + String.fromCharCode(id.charCodeAt(id.length - 1) - 1) + '~';
}
