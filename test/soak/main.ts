import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions, USE } from './options.js';
import { soak } from './soak.js';

/**
 * `npm run soak`: hours of steady load on one gateway, with all that goes on beside it. Fails where a promise breaks.
 */
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const folder = mkdtempSync(join(tmpdir(), 'petgate-soak-'));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
try {
  const problems = await soak(readOptions(process.argv.slice(2)), folder, say);
  for (const problem of problems) say(`FAILED: ${problem}`);
  say(problems.length === 0 ? 'held' : `${problems.length} problems`);
  process.exit(problems.length === 0 ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n${USE}\n`);
  process.exit(2);
}
