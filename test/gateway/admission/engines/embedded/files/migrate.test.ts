import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { open } from 'lmdb';
import { addressRequest, engineOn, ENTRY, ledgerOf, NOON_MS, recordOf, requestOf, tempFolder } from '../fixture.js';

const BOOT = 'one';
const nowMs = NOON_MS;
const SEPARATOR = '\u001f';

/** A row of a key as versions before the log wrote it: eight doubles of state; of each label its length, itself, and four doubles. */
function oldRow(spent: number, counts: Readonly<Record<string, number>>): Buffer {
  const state = Buffer.alloc(64);
  for (const [place, value] of [spent * 60_000, nowMs, spent * 86_400_000, Date.UTC(2026, 10, 21)].entries())
    state.writeDoubleLE(value, place * 8);
  const slots = Object.entries(counts).map(([label, requests]) => {
    const slot = Buffer.alloc(2 + label.length + 32);
    slot.writeUInt16LE(label.length);
    slot.write(label, 2);
    slot.writeDoubleLE(requests, 2 + label.length);
    return slot;
  });
  return Buffer.concat([state, ...slots]);
}

const labelOf = (day: string, operation: string): string => [day, 'free', operation].join(SEPARATOR);

/** What such a version leaves behind after kill -9: of `saved` all is in `durable`, of `late` an older state, of `fresh` nothing. */
async function oldFolder(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const common = { encoding: 'binary' as const, mapSize: 2 ** 26, overlappingSync: false };
  const recent = open<Buffer, string>(join(folder, `recent-${BOOT}.mdb`), { ...common, noSync: true });
  const durable = open<Buffer, string>(join(folder, 'durable.mdb'), common);
  const today = labelOf('2026-11-21', 'listPets');
  durable.transactionSync(() => {
    for (const id of ['saved', 'late', 'fresh']) {
      durable.putSync(`k${id}`, Buffer.from(JSON.stringify(recordOf(id))));
      durable.putSync(`h${id}${SEPARATOR}${'1'.padStart(12, '0')}`, Buffer.from(JSON.stringify(ENTRY)));
    }
    for (const [id, spent] of [
      ['saved', 7],
      ['late', 2],
    ] as const) {
      durable.putSync(`s${id}`, oldRow(spent, {}));
      durable.putSync(
        `u2026-11-21${SEPARATOR}${id}${today.slice(10)}`,
        oldRow(spent, { [today]: spent }).subarray(66 + today.length),
      );
    }
  });
  recent.transactionSync(() => {
    recent.putSync('rsaved', oldRow(7, { [today]: 7 }));
    recent.putSync('rlate', oldRow(9, { [labelOf('2026-11-20', 'getPet')]: 3, [today]: 9 }));
    recent.putSync('rfresh', oldRow(4, { [today]: 4 }));
    recent.putSync(`j${'41'.padStart(16, '0')}`, Buffer.from('late\n'));
    recent.putSync(`j${'42'.padStart(16, '0')}`, Buffer.from('fresh\nlate\n'));
    recent.putSync('a192.0.2.1', oldRow(2, {}));
  });
  await Promise.all([recent.close(), durable.close()]);
}

t.test('a folder of a version before the log goes on where it was', async (t) => {
  const folder = tempFolder(t);
  await oldFolder(folder);
  const engine = engineOn(t, folder, { bootId: BOOT });
  const verdicts = await engine.admit([
    ...['saved', 'late', 'fresh'].map((id) => requestOf(id, { nowMs })),
    addressRequest('192.0.2.1', { nowMs }),
  ]);
  t.match(
    verdicts,
    [52, 50, 55, 0].map((remaining) => ({ outcome: 'admitted', minute: { remaining } })),
    'no token comes back',
  );
  const rows = (await ledgerOf(engine)).map(({ key, day, operation, requests }) => [key, day, operation, requests]);
  t.strictSame(
    rows,
    [
      ['fresh', '2026-11-21', 'listPets', 5],
      ['late', '2026-11-20', 'getPet', 3],
      ['late', '2026-11-21', 'listPets', 10],
      ['saved', '2026-11-21', 'listPets', 8],
    ],
    'and the ledger has all that was counted',
  );
  t.equal((await engine.keys.history('late')).length, 1);
  await engine.close();
  const again = engineOn(t, folder, { bootId: BOOT });
  t.match(await again.admit([requestOf('late', { nowMs })]), [{ minute: { remaining: 49 } }], 'once');
});

t.test('after a restart of the machine it goes on from what was saved', async (t) => {
  const folder = tempFolder(t);
  await oldFolder(folder);
  const engine = engineOn(t, folder, { bootId: 'two' });
  const verdicts = await engine.admit(['saved', 'late', 'fresh'].map((id) => requestOf(id, { nowMs })));
  t.match(
    verdicts,
    [52, 57, 59].map((remaining) => ({ outcome: 'admitted', minute: { remaining } })),
  );
});
