import type { Test } from 'tap';
import type { AdmissionEngine, IncomingKey } from '../../src/gateway/store/port.js';
import type { KeyRecord } from '../../src/gateway/store/records/key.js';
import { keyRecord } from '../gateway/admission/key-record.js';
import { until } from '../servers/until.js';
import { ask, askMany, count, freshId, NOON_MS } from './cast.js';
import type { Actor } from './cast.js';

/** The engine under test is opened with this lease: an import can be abandoned within a test, and a busy machine keeps it. */
export const IMPORT_LEASE_MS = 2_000;
/** Enough for several rounds of everything that goes by rounds. */
const MANY = 200;
const PAGE = 150;

type Incoming = IncomingKey & Pick<Actor, 'subject' | 'id'>;

export function incoming(id = freshId(), changes: Partial<KeyRecord> = {}): Incoming {
  const secretHash = Buffer.from(`hash of ${id}`).toString('base64url');
  const secrets = [{ hash: secretHash, endsAtMs: null }];
  const record = keyRecord(id, { plan: 'pro', name: `imported ${id}`, createdAtMs: 5, secrets, ...changes });
  return {
    id,
    record,
    entry: { atMs: 7, action: 'imported', changed: { plan: record.plan } },
    subject: { kind: 'key', id, secretHash },
  };
}

/** Imports: port.ts, ImportStore. */
export function imports(t: Test, engine: AdmissionEngine): void {
  const { keys } = engine;
  const store = keys.imports;
  const outcome = async (key: Incoming): Promise<string> => (await ask(engine, key.subject, NOON_MS)).outcome;

  t.test('nothing staged is good or can be seen; with the commit all of it is, settled or not', async (t) => {
    const all = Array.from({ length: MANY }, () => incoming());
    const [first, second, third] = all as [Incoming, Incoming, Incoming];
    const importId = freshId();
    t.equal(await store.open(importId), undefined);
    t.ok((await store.stage(importId, all)).every((each) => each === 'staged'));
    t.match(await store.read(), { id: importId, phase: 'staging', abandoned: false });
    t.same(
      [await outcome(first), await keys.read(first.id), await keys.history(first.id)],
      ['unknown_key', undefined, []],
    );
    await store.settle(importId);
    t.equal(await outcome(first), 'unknown_key', 'what is not committed cannot be settled');
    await t.rejects(keys.write(first.record, first.entry), { name: 'VersionConflict' }, 'its id is taken');

    await store.commit(importId);
    t.equal(count(await askMany(engine, first.subject, 3, NOON_MS), 'admitted'), 3);
    t.same(await keys.read(second.id), second.record);
    await keys.write({ ...third.record, plan: 'free', version: 2 }, { atMs: 8, action: 'changed', changed: {} });
    await store.drop(importId, 'own');
    await store.drop(importId, 'abandoned');
    t.match(
      await ask(engine, third.subject, NOON_MS),
      { outcome: 'admitted', plan: 'free' },
      'what is committed cannot be dropped',
    );

    await store.settle(importId);
    await store.settle(importId);
    t.equal(await store.read(), undefined, 'and it is over');
    t.ok((await Promise.all(all.map(outcome))).every((each) => each === 'admitted'));
    t.equal((await keys.read(third.id))?.plan, 'free', 'a change in between stays');
    t.same(
      (await keys.history(third.id)).map(({ action }) => action),
      ['imported', 'changed'],
    );
    t.same(await keys.history(first.id), [first.entry], 'once');
    const ids = new Set<string>();
    for (let after: string | null = null; ;) {
      const page: readonly KeyRecord[] = await keys.page(after, PAGE);
      for (const { id } of page) ids.add(id);
      if (page.length < PAGE) break;
      after = page.at(-1)?.id ?? null;
    }
    t.ok(
      all.every(({ id }) => ids.has(id)),
      'all are listed',
    );
  });

  t.test('an import that is dropped leaves nothing, and its ids are free again', async (t) => {
    const all = Array.from({ length: MANY }, () => incoming());
    const importId = freshId();
    await store.open(importId);
    await store.stage(importId, all);
    await store.drop(importId, 'own');
    t.equal(await store.read(), undefined);
    await t.rejects(store.stage(importId, all), { name: 'ImportLost' });
    await t.rejects(store.commit(importId), { name: 'ImportLost' });
    const [first] = all as [Incoming];
    t.equal(await outcome(first), 'unknown_key');
    await keys.write(first.record, first.entry);
    t.equal(await outcome(first), 'admitted');
  });

  t.test('a key that is there stays as it is, and of two with one id the first counts', async (t) => {
    const there = incoming();
    await keys.write(there.record, there.entry);
    const importId = freshId();
    await store.open(importId);
    const fresh = incoming();
    t.same(
      await store.stage(importId, [incoming(there.id, { plan: 'open' }), fresh, incoming(fresh.id, { plan: 'open' })]),
      ['present', 'staged', 'repeated'],
    );
    await store.commit(importId);
    await store.settle(importId);
    t.same([(await keys.read(there.id))?.plan, (await keys.read(fresh.id))?.plan], ['pro', 'pro']);
  });

  t.test(
    'there is one import at a time; an abandoned one can be dropped, and is lost for whoever ran it',
    async (t) => {
      const [mine, yours] = [freshId(), freshId()];
      t.equal(await store.open(mine), undefined);
      const key = incoming();
      await store.stage(mine, [key]);
      t.match(await store.open(yours), { id: mine, phase: 'staging', abandoned: false });
      await store.drop(mine, 'abandoned');
      t.match(await store.read(), { id: mine, phase: 'staging' }, 'it is not abandoned yet');
      await until('the import is abandoned', async () => (await store.read())?.abandoned === true);
      await store.stage(mine, [incoming()]);
      t.match(await store.read(), { abandoned: false }, 'it may come back as long as nobody dropped it');
      await until('the import is abandoned', async () => (await store.read())?.abandoned === true);
      await store.drop(mine, 'abandoned');
      t.equal(await store.open(yours), undefined);
      await t.rejects(store.stage(mine, [incoming()]), { name: 'ImportLost' });
      await t.rejects(store.commit(mine), { name: 'ImportLost' });
      await store.drop(mine, 'own');
      t.same(await store.stage(yours, [key]), ['staged']);
      await store.commit(yours);
      t.equal(await outcome(key), 'admitted');
      t.match(
        await store.open(mine),
        { id: yours, phase: 'committed', abandoned: false },
        'one that was committed is never abandoned',
      );
      await store.settle(yours);
      t.equal(await store.open(mine), undefined);
      await store.drop(mine, 'own');
    },
  );
}
