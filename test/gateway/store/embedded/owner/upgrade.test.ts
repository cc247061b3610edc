import { existsSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import t from 'tap';
import type { Test } from 'tap';
import { openStores, type Stores } from '../../../../../src/gateway/store/embedded/owner/stores.js';
import { noCounts } from '../../../../../src/gateway/store/records/counts.js';
import { freshState } from '../../../../../src/gateway/admission/decide.js';
import { Entry } from '../../../../../src/gateway/store/embedded/journal/entry.js';
import { labelFrom } from '../../../../../src/gateway/store/embedded/journal/label.js';
import { nextPending } from '../../../../../src/gateway/store/embedded/journal/pending.js';
import { packRecord, recordsIn } from '../../../../../src/gateway/store/embedded/journal/record.js';
import { packState } from '../../../../../src/gateway/store/state.js';
import { createLog } from '../../../../../src/shared/log.js';
import { tempFolder } from '../fixture.js';

const BOOT = 'this-boot';
const LABEL = '2026-11-21\u001ffree\u001flistPets';
const numbered = (letter: string, transaction: number): string => letter + String(transaction).padStart(16, '0');

function doubles(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length);
  values.forEach((value, n) => bytes.writeDoubleLE(value, 8 * n));
  return bytes;
}

/** A row of 0.4's log: a key with so many requests. */
function logged(id: string, requests: number): Buffer {
  const entry = new Entry('s', id, { ...freshState(), minute: { level: requests, atMs: 1 } });
  entry.put(labelFrom(LABEL), { ...noCounts(), requests, units: requests }, 1);
  for (const record of recordsIn(packRecord(1, [entry], null))) if ('subjects' in record) return record.subjects;
  throw new Error('no record');
}

/**
 * A folder as 0.4 leaves it when it is killed: `old` is folded; transactions 5 and 6 are in the log and its copy, 7 is
 * in the log alone.
 */
async function of04(t: Test): Promise<{ folder: string; recent: string }> {
  const folder = tempFolder(t);
  const recentFile = join(folder, `recent-${BOOT}.mdb`);
  const [durable, recent] = [join(folder, 'durable.mdb'), recentFile].map((file) =>
    open<Buffer, string>(file, { encoding: 'binary' }),
  ) as [ReturnType<typeof open<Buffer, string>>, ReturnType<typeof open<Buffer, string>>];
  await recent.transaction(() => {
    recent.putSync('o', doubles(42));
    recent.putSync('g', doubles(4));
    recent.putSync(numbered('l', 5), logged('k', 1));
    recent.putSync(numbered('l', 6), logged('k', 2));
    recent.putSync(numbered('l', 7), logged('k', 3));
    recent.putSync(`${numbered('E', 6)}\u001f0`, Buffer.from('["taken"]'));
    recent.putSync(`${numbered('E', 7)}\u001f0`, Buffer.from('["new"]'));
    recent.putSync('a192.0.2.1', packState({ ...freshState(), minute: { level: 9, atMs: 1 } }));
    recent.putSync('nrk', doubles(5));
    recent.putSync('Tk', Buffer.from('[]'));
  });
  await durable.transaction(() => {
    durable.putSync('F', Buffer.from('2'));
    durable.putSync('sold', packState({ ...freshState(), minute: { level: 8, atMs: 1 } }));
    durable.putSync(`${numbered('l', 6)}\u001f${numbered('', 9)}`, logged('k', 2));
    durable.putSync('p', doubles(42, 6));
    for (const row of ['Wcustomer', 'Ccopy', 'ekey-1-to-customer', 'ekey-1']) durable.putSync(row, Buffer.from('{}'));
    durable.putSync(`${numbered('E', 1)}\u001f0`, Buffer.from('["taken"]'));
  });
  await Promise.all([durable.close(), recent.close()]);
  return { folder, recent: recentFile };
}

function openOn(t: Test, folder: string, bootId: string): Stores {
  const stores = openStores({ folder, mapBytes: 64 * 2 ** 20, bootId, log: createLog('gateway', 'silent') });
  t.teardown(() => stores.close());
  return stores;
}

function eventsIn({ durable }: Stores): readonly unknown[] {
  return durable.transactionSync(() => [...(nextPending(durable) ?? []), ...(nextPending(durable) ?? [])]);
}

const levelOf = ({ memory }: Stores, id: string): number => memory.stateOf('s', id).minute.level;
const requestsOf = ({ durable }: Stores): number | undefined =>
  durable.getBinary('u2026-11-21\u001fk\u001ffree\u001flistPets')?.readDoubleLE();

t.test('a folder of 0.4 that was killed: all that it decided is there, once', async (t) => {
  const { folder, recent } = await of04(t);
  const stores = openOn(t, folder, BOOT);
  t.strictSame([levelOf(stores, 'k'), levelOf(stores, 'old'), requestsOf(stores)], [3, 8, 3]);
  t.equal(stores.memory.entry('a', '192.0.2.1').state.minute.level, 9);
  t.ok(stores.durable.doesExist('nrk') && stores.durable.doesExist('Tk'));
  t.strictSame(eventsIn(stores), ['taken', 'new']);
  t.notOk(existsSync(recent));
  t.equal(stores.durable.getBinary('F')?.toString(), '3');
  const left = [...stores.durable.getKeys()].filter((row) => /^[lWCe]/.test(row));
  t.strictSame(left, ['ekey-1'], 'nothing is left of the log, nor of what 0.3 had for customers');
});

t.test('after the machine restarted: all but the last half second', async (t) => {
  const { folder } = await of04(t);
  const stores = openOn(t, folder, 'the-next-boot');
  t.strictSame([levelOf(stores, 'k'), levelOf(stores, 'old'), requestsOf(stores)], [2, 8, 2]);
  t.strictSame(eventsIn(stores), ['taken']);
  t.notOk(readdirSync(folder).some((name) => name.startsWith('recent-')));
});

t.test('its damaged log is kept, and its copy taken', async (t) => {
  const { folder, recent } = await of04(t);
  truncateSync(recent, statSync(recent).size / 2);
  const stores = openOn(t, folder, BOOT);
  t.equal(levelOf(stores, 'k'), 2);
  t.ok(existsSync(`${recent}.damaged`));
});
