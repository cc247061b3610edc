import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { LineFile } from '../../../src/gateway/observe/line-file.js';
import { temporaryFolder } from '../../servers/program.js';
import { until } from '../../servers/until.js';

const ITEM = z.object({ n: z.number() });
type Item = z.output<typeof ITEM>;

const numbers = (file: LineFile<Item>): readonly number[] => file.items.map(({ n }) => n);
const linesIn = (path: string): number => readFileSync(path, 'utf8').split('\n').length - 1;

t.test('the last items outlive a restart; lines that broke off or were never ours are left out', async (t) => {
  const path = join(temporaryFolder(t), 'below', 'items.ndjson');
  const file = new LineFile(path, ITEM, 10);
  for (let n = 1; n <= 4; n += 1) file.add({ n });
  t.strictSame(numbers(file), [1, 2, 3, 4], 'at once in memory');
  await until('all are written', () => linesIn(path) === 4);
  t.equal(statSync(path).mode & 0o077, 0, 'for its owner alone');
  appendFileSync(path, '{"n":"x"}\n[]\nnull\n{"n":5');
  const next = new LineFile(path, ITEM, 3);
  t.strictSame(numbers(next), [2, 3, 4], 'as many as are kept now');
  next.add({ n: 6 });
  await until('what broke off is gone', () => readFileSync(path, 'utf8').endsWith('{"n":4}\n{"n":6}\n'));
});

t.test('a file never has twice as many lines as are kept, and always the last', async (t) => {
  const path = join(temporaryFolder(t), 'items.ndjson');
  const file = new LineFile(path, ITEM, 10);
  let highest = 0;
  for (let n = 1; n <= 95; n += 1) {
    file.add({ n });
    await until('it is written', () => readFileSync(path, 'utf8').endsWith(`{"n":${n}}\n`));
    highest = Math.max(highest, linesIn(path));
  }
  t.ok(highest < 20, `${highest} lines`);
  t.strictSame(numbers(file), [86, 87, 88, 89, 90, 91, 92, 93, 94, 95]);
  t.strictSame(numbers(new LineFile(path, ITEM, 10)), numbers(file));
});

t.test('a place that cannot be written costs nothing but the restart', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'file'), '');
  for (const path of [null, join(folder, 'file', 'items.ndjson')]) {
    const file = new LineFile(path, ITEM, 2);
    for (const n of [1, 2, 3]) file.add({ n });
    t.strictSame(numbers(file), [2, 3]);
  }
  t.end();
});
