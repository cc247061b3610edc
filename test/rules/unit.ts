import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/shared/package-root.js';
import { filesIn, loadedBy } from './source-files.js';

const STARTS = /\bfrom '(?:node:)?(?:child_process|cluster)'|\bimport\('(?:node:)?(?:child_process|cluster)'\)/;

/** Starts `flock`, which is over when the call returns. */
const LOCK = 'src/shared/files/claim-folder.ts';

/** True when the file can start a process: a gateway, a Redis, a tool. */
function canStart(path: string): boolean {
  return path !== LOCK && STARTS.test(readFileSync(join(packageRoot, path), 'utf8'));
}

/**
 * The test files that load nothing which can start a process: all they need is in their own. `npm run test:unit` runs
 * these.
 */
export function unitTests(): readonly string[] {
  const tests = filesIn('test')
    .map(({ path }) => path)
    .filter((path) => /\.test\.tsx?$/.test(path));
  return tests.filter((path) => ![...loadedBy([path])].some(canStart));
}
