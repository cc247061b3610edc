import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../src/shared/package-root.js';
import { temporaryFolder, type Teardown } from './program.js';

/** A wall clock that steps, for programs started with its environment. */
export interface SteppedClock {
  readonly environment: Readonly<Record<string, string>>;
  /** Sets it so far from the machine's, ms; its programs see it some 20 ms later. */
  step(offsetMs: number): void;
}

export function steppedClock(t: Teardown): SteppedClock {
  const file = join(temporaryFolder(t), 'offset');
  const preload = pathToFileURL(join(packageRoot, 'dist/test/servers/stepped-clock.js')).href;
  const step = (offsetMs: number): void => {
    writeFileSync(`${file}.next`, offsetMs.toString());
    renameSync(`${file}.next`, file);
  };
  step(0);
  return { environment: { NODE_OPTIONS: `--import ${preload}`, PETGATE_TEST_CLOCK: file }, step };
}
