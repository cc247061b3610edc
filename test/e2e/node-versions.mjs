/**
 * Runs the built tests of what differs between versions of Node on other ones, taken from npm's `node` packages:
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
/** Its HTTP, HTTP/2, TLS, sockets and streams; workers and signals; native modules. What we decide is ours on any. */
const DIFFER = [
  'answers/every-answer',
  'attacks/http2-malformed',
  'attacks/http2-reset',
  'attacks/long-bodies',
  'attacks/pipelining',
  'attacks/smuggling',
  'attacks/upstream-answers',
  'conformance/embedded',
  'e2e/certificate',
  'e2e/drain',
  'e2e/http2',
  'e2e/proxy-protocol',
  'e2e/reload',
  'e2e/start',
  'e2e/tunnels',
  'faults/kill/supervisor',
  'faults/kill/workers',
  'gateway/upstream/http1/pool',
];
const all = testFiles();
const wanted = DIFFER.map((name) => `dist/test/${name}.test.js`);
const files = all.filter((file) => wanted.includes(file));
const missing = wanted.filter((file) => !all.includes(file));
if (versions.length === 0) tally.fault('node-versions', `name versions that fit ${engines.node}, such as 22 24`);
else if (missing.length > 0)
  tally.fault('node-versions', `not there: ${missing.join(', ')}; run npm run build, or mend the list`);

for (const version of missing.length > 0 ? [] : versions) {
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
