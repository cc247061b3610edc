/**
 * `npm run soak`: installs and builds like `npm test`, then loads a gateway for as long as it is asked to (main.ts).
 */
import { fileURLToPath } from 'node:url';
import { ensureReady } from '../../src/bootstrap.mjs';
import { ensureNeeds } from '../runner/needs.mjs';
import { runInOwnNetwork } from '../bench/network.mjs';

try {
  await ensureReady();
  ensureNeeds();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
const main = fileURLToPath(new URL('../../dist/test/soak/main.js', import.meta.url));
process.exitCode = await runInOwnNetwork(main, process.argv.slice(2));
