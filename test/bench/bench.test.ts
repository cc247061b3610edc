import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { Result } from './report.js';
import { median, resultOf, tableOf } from './report.js';

const MAIN = fileURLToPath(new URL('main.js', import.meta.url));

t.test('one short round measures every subject and prints JSON alone', (t) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, '--rounds', '1', '--requests', '300', '--json'], { encoding: 'utf8' });
  t.equal(status, 0, 'it ends well', { stderr });
  const { rounds, requests, results } = JSON.parse(stdout) as { rounds: number; requests: number; results: readonly Result[] };
  t.strictSame([rounds, requests], [1, 300]);
  t.strictSame(results.map(({ name }) => name), ['bare proxy', 'embedded', 'embedded, no access log', 'redis', 'redis, no access log']);
  t.equal(results[0]?.ratio, 1);
  t.ok(results.every(({ medianUs }) => medianUs > 1 && medianUs < 10_000), 'figures are of this world', { results });
  t.strictSame(results.map(({ storeUs }) => storeUs !== null), [false, false, false, true, true], 'only Redis has a process of its own');
  t.end();
});

t.test('wrong options are told', (t) => {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, '--rounds', '0'], { encoding: 'utf8' });
  t.equal(status, 1);
  t.match(stderr, /--rounds must be a whole number from 1 to 50/);
  t.end();
});

t.test('medians, ratios and the table', (t) => {
  t.equal(median([3, 1, 2]), 2);
  t.equal(median([4, 1, 3, 2]), 2.5);
  const result = resultOf('gateway', [30, 50, 40], 20, [9, 8, 10]);
  t.strictSame(result, { name: 'gateway', medianUs: 40, lowestUs: 30, highestUs: 50, ratio: 2, storeUs: 9 });
  t.match(tableOf([result]), /gateway +40\.0 +30\.0 to 50\.0 +2\.00 × +9\.0/);
  t.end();
});
