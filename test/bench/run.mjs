/**
 * `npm run bench`: installs and builds like `npm test`, then measures (main.ts tells what).
 * Options after `--`: --rounds, --requests, --json.
 */
import { ensureBuilt, ensureInstalled } from '../../src/bootstrap.mjs';
import { ensureNeeds } from '../runner/needs.mjs';

const json = process.argv.includes('--json');
// With --json standard output is for the figures alone.
const write = process.stdout.write.bind(process.stdout);
if (json) process.stdout.write = process.stderr.write.bind(process.stderr);
try {
  await ensureInstalled();
  ensureNeeds();
  await ensureBuilt();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
process.stdout.write = write;
await import('../../dist/test/bench/main.js');
