import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const MAIN = fileURLToPath(new URL('script.js', import.meta.url));
const DIST = fileURLToPath(new URL('../..', import.meta.url));

interface Result {
  readonly name: string;
  readonly size: number;
  readonly redisUs: number;
  readonly redisRatio: number | null;
}

t.test('one short round measures each size, beside another build', (t) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [MAIN, '--rounds', '1', '--keys', '64', '--requests', '128', '--json', '--against', DIST],
    { encoding: 'utf8' },
  );
  t.equal(status, 0, 'it ends well', { stderr });
  const { results } = JSON.parse(stdout) as { results: readonly Result[] };
  t.strictSame(
    results.map(({ name, size }) => `${name} ${size}`),
    [1, 4, 16, 64].flatMap((size) => ['ping', 'other', 'this', 'one key', 'Cluster'].map((name) => `${name} ${size}`)),
  );
  t.ok(
    results.every(({ redisUs }) => redisUs > 0),
    'each has a cost',
    { results },
  );
  t.strictSame(
    results.map(({ redisRatio }) => redisRatio === null),
    results.map(({ name }) => name === 'other'),
    'the other build is what is compared to',
  );
  t.end();
});

t.test('wrong options are told', (t) => {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, '--keys', '10'], { encoding: 'utf8' });
  t.equal(status, 1);
  t.match(stderr, /--keys must be a whole number from 64 to 100000/);
  t.end();
});
