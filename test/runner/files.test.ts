import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';

function listed(): { readonly LONG: readonly string[]; readonly files: readonly string[] } {
  const text =
    "const { LONG, testFiles } = await import('./test/runner/files.mjs'); console.log(JSON.stringify({ LONG, files: testFiles() }))";
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', text], {
    cwd: packageRoot,
    encoding: 'utf8',
  });
  return JSON.parse(stdout) as ReturnType<typeof listed>;
}

t.test('the long files are there, come first, and none comes twice', (t) => {
  const { LONG, files } = listed();
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
