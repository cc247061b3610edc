import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';

/** A process with an engine of its own on a folder, which replays when Redis is back. */
export async function startReplayer(
  t: Test,
  folder: string,
  url: string,
): Promise<{ readonly kill: (afterMs: number) => Promise<void> }> {
  const child = fork(fileURLToPath(new URL('replayer.js', import.meta.url)), [folder, url]);
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'message');
  return {
    kill: async (afterMs) => {
      await sleep(afterMs);
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}
