import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';

/** What an expression of the names in files.mjs gives. */
function evaluated(expression: string): unknown {
  const text =
    `import { LONG, testFiles, filesOf } from './test/runner/files.mjs'; console.log(JSON.stringify(await ` +
    `${expression}))`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', text], {
    cwd: packageRoot,
    encoding: 'utf8',
  });
  return JSON.parse(stdout);
}

t.test('the long files are there, come first, and none comes twice', (t) => {
  const [LONG, files] = evaluated('[LONG, testFiles()]') as [readonly string[], readonly string[]];
  t.strictSame(
    LONG.filter((name) => !existsSync(join(packageRoot, 'test', `${name}.test.ts`))),
    [],
    'renamed or gone: change LONG',
  );
  t.strictSame(
    files.slice(0, LONG.length),
    LONG.map((name) => `dist/test/${name}.test.js`),
  );
  t.equal(new Set(files).size, files.length);
  t.end();
});

t.test('each file is in one suite; who names one finds it in either', (t) => {
  const [all, usual, faults, named, namedFaults] = evaluated(
    `Promise.all([testFiles(), filesOf(undefined, []), filesOf('--faults', []), filesOf(undefined, ['chaos', ` +
      `'refusal']), filesOf('--faults', ['chaos', 'refusal'])])`,
  ) as readonly (readonly string[])[];
  t.strictSame([...usual!, ...faults!].sort(), [...all!].sort());
  t.ok(faults!.every((file) => /^dist\/test\/(?:attacks|faults)\//.test(file)) && faults!.length > 40);
  t.notOk(usual!.some((file) => /^dist\/test\/(?:attacks|faults)\//.test(file)));
  t.ok(named!.includes('dist/test/faults/chaos/redis.test.js') && named!.includes('dist/test/gateway/refusal.test.js'));
  t.ok(namedFaults!.length > 0 && namedFaults!.every((file) => file.startsWith('dist/test/faults/chaos/')));
  t.end();
});
