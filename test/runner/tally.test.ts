import { spawnSync } from 'node:child_process';
import t from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';

/** Runs a module's text in the package's folder. */
function run(text: string): string {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', text], {
    cwd: packageRoot,
    encoding: 'utf8',
  });
  return stdout + stderr;
}

t.test('a failure prints the beginning and the end of long values', (t) => {
  const told = run(`
    import { Tally } from './test/runner/tally.mjs';
    const tally = new Tally();
    const long = (word) => word + '-'.repeat(1_000_000) + word;
    tally.fail(['file', long('name')], { found: long('found'), wanted: { is: long('wanted') } });
    tally.fault('file', long('reason'));
    tally.print();
  `);
  t.ok(told.length < 9_000, `${told.length} characters`);
  for (const word of ['name', 'found', 'wanted', 'reason']) t.match(told, new RegExp(`${word}--[^]*--${word}`));
  t.match(told, /\n0 passed, 2 failed\n$/);
  t.end();
});
