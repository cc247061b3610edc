/**
 * `npm test`: installs what the tests need, builds, runs every built test under tap.
 * Arguments after `npm test --` are parts of file names to run only those.
 * The last line is `N passed, N failed`, in assertions; the exit code tells the same.
 */
import { fileURLToPath } from 'node:url';
import { testFiles } from './runner/files.mjs';
import { ensureNeeds } from './runner/needs.mjs';
import { Tally } from './runner/tally.mjs';
import { runTap } from './runner/tap.mjs';
import { ensureBuilt, ensureInstalled } from '../src/bootstrap.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

await ensureInstalled();
ensureNeeds();
await ensureBuilt();

const wanted = process.argv.slice(2);
const files = testFiles().filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)));
const tally = new Tally();
if (files.length === 0) tally.fault('test/run.mjs', wanted.length === 0 ? 'there is no test' : `no test file matches ${wanted.join(', ')}`);
else await runTap(files, tally);
tally.print();
process.exitCode = tally.failed === 0 ? 0 : 1;
