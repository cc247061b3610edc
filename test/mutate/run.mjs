/**
 * `npm run mutate [-- part … --every=N --again]`: installs and builds like `npm test`, then changes one thing at a time
 * in the modules of targets.ts (in every Nth place; only where it survived the last time) and says which changes no
 * test noticed. Everything takes hours; it is no part of CI.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ensureReady } from '../../src/bootstrap.mjs';
import { ensureNeeds } from '../runner/needs.mjs';

try {
  await ensureReady();
  ensureNeeds();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
const main = fileURLToPath(new URL('../../dist/test/mutate/main.js', import.meta.url));
process.exitCode = spawnSync(process.execPath, [main, ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 1;
