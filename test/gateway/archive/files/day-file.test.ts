import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { UsageRow } from '../../../../src/gateway/admission/port.js';
import { checkDay, readDay, writeDay } from '../../../../src/gateway/archive/files/day-file.js';
import { openFileArchive } from '../../../../src/gateway/archive/files/files.js';
import { temporaryFolder } from '../../../servers/program.js';
import { gathered } from '../stage.js';

const DAY = '2026-01-05';

function rowsOf(keys: number): UsageRow[] {
  return Array.from({ length: keys }, (_, n) => ({
    key: `k${String(n).padStart(6, '0')}`,
    plan: 'free',
    operation: 'listPets',
    day: DAY,
    requests: n + 1,
    units: 2 * n + 3,
    limited: n % 3,
    banned: 0,
    failed: n % 7,
  }));
}

async function* inBatches(rows: readonly UsageRow[]): AsyncGenerator<readonly UsageRow[]> {
  for (let at = 0; at < rows.length; at += 100) yield await Promise.resolve(rows.slice(at, at + 100));
}

t.test('a day comes back as it was written, whole, from behind a key, and of one key', async (t) => {
  const path = join(temporaryFolder(t), `${DAY}.tsv`);
  const rows = rowsOf(3_000);
  const seal = await writeDay(path, DAY, inBatches(rows));
  t.equal(seal.rows, 3_000);
  t.equal(seal.totals['requests'], (3_000 * 3_001) / 2);
  t.same(await checkDay(path, DAY), seal);
  t.same(await gathered(readDay(path, DAY, {})), rows);
  for (const place of [0, 1, 1_234, 2_998, 2_999]) {
    const { key } = rows[place]!;
    t.same(await gathered(readDay(path, DAY, { after: key })), rows.slice(place + 1), `behind ${key}`);
    t.same(await gathered(readDay(path, DAY, { keyId: key })), [rows[place]], `only ${key}`);
  }
  for (const key of ['a', 'k001234x', 'z']) t.same(await gathered(readDay(path, DAY, { keyId: key })), [], key);
  t.equal((await writeDay(path, DAY, inBatches([]))).rows, 0);
  t.same(await gathered(readDay(path, DAY, {})), [], 'a day without rows');
  t.equal((await checkDay(path, DAY)).rows, 0);
});

t.test('a day that is not as it was written is damaged', async (t) => {
  const path = join(temporaryFolder(t), `${DAY}.tsv`);
  await writeDay(path, DAY, inBatches(rowsOf(500)));
  const good = readFileSync(path, 'latin1');
  const lines = good.split('\n');
  const bad: Readonly<Record<string, string>> = {
    'a digit': good.replace('\t17\t', '\t18\t'),
    'a line less': lines.toSpliced(40, 1).join('\n'),
    'a line twice': lines.toSpliced(40, 0, lines[40]!).join('\n'),
    'cut short': good.slice(0, -200),
    'cut at a line': `${lines.slice(0, 300).join('\n')}\n`,
    'cut within its end': good.slice(0, -5),
    'more behind it': `${good}${lines[9]!}\n`,
    'of another day': good.replace(DAY, '2026-01-06'),
    empty: '',
    'no text': '\0'.repeat(5_000),
  };
  for (const [what, text] of Object.entries(bad)) {
    writeFileSync(path, text, 'latin1');
    await t.rejects(checkDay(path, DAY), { name: 'ArchiveDamaged' }, what);
  }
});

t.test('a count that a day does not have is told by another one, and one that nobody knows is left out', async (t) => {
  const path = join(temporaryFolder(t), `${DAY}.tsv`);
  const head = JSON.stringify({ ledger: DAY, format: 1, columns: ['key', 'plan', 'operation', 'requests', 'paws'] });
  writeFileSync(path, `${head}\nk1\tfree\tlistPets\t5\t20\n{}\n`);
  t.match(await gathered(readDay(path, DAY, {})), [
    { key: 'k1', requests: 5, units: 5, limited: 0, banned: 0, failed: 0 },
  ]);
  writeFileSync(path, `${head.replace('1,', '2,')}\n{}\n`);
  await t.rejects(gathered(readDay(path, DAY, {})), { name: 'ArchiveUnavailable', message: /newer version/ });
});

t.test('a day that is there stays as it is; one at a time does the work', async (t) => {
  const folder = temporaryFolder(t);
  const archive = openFileArchive(folder);
  t.equal(await archive.add(DAY, inBatches(rowsOf(10))), true);
  t.equal(await openFileArchive(folder).add(DAY, inBatches(rowsOf(5))), false);
  t.equal((await archive.verify(DAY)).rows, 10);
  t.equal(openFileArchive(folder).id, archive.id);
  t.not(openFileArchive(temporaryFolder(t)).id, archive.id);
  const version = await archive.version();
  await archive.setState(DAY, 'moved');
  t.not(await archive.version(), version);
  t.same([...(await archive.days())], [[DAY, 'moved']]);
  await archive.drop(DAY);
  t.equal((await archive.days()).size, 0);
  await t.rejects(archive.verify(DAY), { name: 'ArchiveDamaged', message: /is missing/ });
  writeFileSync(join(folder, 'work', 'lock'), String(process.ppid));
  t.equal(await archive.alone(() => Promise.resolve(1)), undefined, 'another process is at it');
  writeFileSync(join(folder, 'work', 'lock'), '999999999');
  t.equal(await archive.alone(() => Promise.resolve(1)), 1, 'one that is gone is not waited for');
  t.throws(() => openFileArchive('/dev/null/ledger'), { name: 'ArchiveUnavailable' });
});
