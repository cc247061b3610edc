import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { packageRoot } from '../../src/shared/package-root.js';

/** For the environment of a gateway whose turns are watched. */
export const WATCH_TURNS = { NODE_OPTIONS: `--import ${join(packageRoot, 'test/bench/turns.mjs')}` };

/** The longest turn of its event loop since this was asked last, ms of CPU time; 0 when it is asked first. */
export async function longestTurnMs(gateway: ChildProcess): Promise<number> {
  gateway.send('turns');
  const [answer] = (await once(gateway, 'message', { signal: AbortSignal.timeout(10_000) })) as [
    { longestTurnMs: number },
  ];
  return answer.longestTurnMs;
}
