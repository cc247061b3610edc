/**
 * `npm run bench`: installs and builds like `npm test`, installs what the peers need, then measures
 * (main.ts tells what; docs/guides/speed.md tells how, and all options).
 */
import { fileURLToPath } from 'node:url';
import { ensureReady } from '../../src/bootstrap.mjs';
import { ensureGithub } from '../contracts/github.mjs';
import { ensureNeeds } from '../runner/needs.mjs';
import { runInOwnNetwork } from './network.mjs';
import { installPeers } from './peers/install.mjs';

try {
  await ensureReady();
  ensureNeeds();
  installPeers();
  fetchGithub();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
/** For the scenario of that name; without the document its subjects are left out, and named. */
function fetchGithub() {
  if (!process.argv.some((argument) => argument === '--all' || argument.includes('github'))) return;
  try {
    ensureGithub();
  } catch (error) {
    console.error(error.message);
  }
}

const main = fileURLToPath(new URL('../../dist/test/bench/main.js', import.meta.url));
process.exitCode = await runInOwnNetwork(main, process.argv.slice(2));
