/**
 * Runs the built end-to-end tests on other versions of Node, taken from npm's `node` packages:
 *   node test/e2e/node-versions.mjs 22 24 26
 * Build first. Last line: `N passed, N failed`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testFiles } from '../runner/files.mjs';
import { Tally } from '../runner/tally.mjs';
import { runTap } from '../runner/tap.mjs';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
const versions = process.argv.slice(2);
const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
const tally = new Tally();
// Whole gateways, at work, killed and without their store. Chaos and the faults of stores have little to do with Node's
// version.
const FOLDERS = ['dist/test/e2e/', 'dist/test/faults/kill/', 'dist/test/faults/outage/'];
const files = testFiles().filter((file) => FOLDERS.some((folder) => file.startsWith(folder)));
if (versions.length === 0) tally.fault('node-versions', `name versions that fit ${engines.node}, such as 22 24`);
else if (files.length === 0) tally.fault('node-versions', 'there is no built test in dist/test/e2e: run npm run build');

for (const version of files.length === 0 ? [] : versions) {
  try {
    const node = execFileSync('npx', ['-y', '-p', `node@${version}`, 'node', '-p', 'process.execPath'], {
      encoding: 'utf8',
    }).trim();
    console.log(`\nNode ${execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()}`);
    // What the tests start by the name `node` has to be this version as well.
    await runTap(files, tally, { node, env: { ...process.env, PATH: dirname(node) + delimiter + process.env.PATH } });
  } catch (error) {
    tally.fault(`Node ${version}`, error.message);
  }
}
tally.print();
process.exitCode = tally.failed === 0 ? 0 : 1;
