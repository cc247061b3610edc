/**
 * `npm test`: installs what the tests need, builds, runs the built tests of how the product works under tap.
 * Arguments after `npm test --` are parts of file names, to run only those, of whatever suite.
 * `npm run test:faults`, which is `--faults` before them: what kills, freezes, cuts off, floods or attacks.
 * `npm run test:unit`, which is `--unit` before them: only files that start no process.
 * The last line is `N passed, N failed`, in assertions; the exit code tells the same.
 */
import { fileURLToPath } from 'node:url';
import { ensureReady } from '../src/bootstrap.mjs';
import { bundleTap } from './runner/bundle.mjs';
import { filesOf } from './runner/files.mjs';
import { ensureDocuments, ensureNeeds } from './runner/needs.mjs';
import { Tally } from './runner/tally.mjs';
import { runTap } from './runner/tap.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const suite = ['--unit', '--faults'].find((name) => name === process.argv[2]);
const wanted = process.argv.slice(suite === undefined ? 2 : 3);
const tally = new Tally();
try {
  await ensureReady();
  await bundleTap();
  if (suite !== '--unit') ensureNeeds();
  const files = await filesOf(suite, wanted);
  ensureDocuments(files);
  if (files.length > 0) await runTap(files, tally);
  else
    tally.fault(
      'npm test',
      wanted.length === 0 ? 'there is no test' : `no test file has ${wanted.join(' or ')} in its name`,
    );
} catch (error) {
  tally.fault('set-up', error instanceof Error ? error.message : String(error));
}
tally.print();
process.exitCode = tally.failed === 0 ? 0 : 1;
