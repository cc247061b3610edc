import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { asTooFew, checkOpenFiles } from '../../src/cli/open-files.js';
import { packageRoot } from '../../src/shared/package-root.js';

const PROGRAM = join(packageRoot, 'dist/program/main.js');

t.test('a program that may open too few files says so, and what to raise', (t) => {
  for (const [limit, program] of [
    [64, 'gateway'],
    [128, 'gateway'],
    [128, 'start'],
    [128, 'pets'],
  ] as const) {
    const shell = `ulimit -n ${limit}; exec "$0" "$1" ${program}`;
    const { status, stderr, stdout } = spawnSync('sh', ['-c', shell, process.execPath, PROGRAM], { encoding: 'utf8' });
    t.match({ status, stdout }, { status: 1, stdout: '' });
    t.match(stderr, new RegExp(`^error: This process may open only ${limit} files .*LimitNOFILE`));
    t.notMatch(stderr, /EMFILE|\n {4}at /);
  }
  checkOpenFiles();
  t.equal(asTooFew(new Error('x')), undefined);
  t.match(asTooFew(Object.assign(new Error('x'), { code: 'EMFILE' })), { exitCode: 1, message: /raise the limit/ });
  t.end();
});
