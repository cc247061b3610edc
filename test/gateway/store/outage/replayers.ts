import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';

interface Replayers {
  /** After a while, all but one of them with -9. */
  killSome(afterMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** Processes beside this one on its folder, each with an engine that replays when Redis is back. */
export async function startReplayers(t: Test, folder: string, url: string, count: number): Promise<Replayers> {
  const children = await Promise.all(
    Array.from({ length: count }, async () => {
      const child = fork(fileURLToPath(new URL('replayer.js', import.meta.url)), [folder, url]);
      t.teardown(() => child.kill('SIGKILL'));
      await once(child, 'message');
      return child;
    }),
  );
  const end = async (child: ChildProcess): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return {
    killSome: async (afterMs) => {
      await sleep(afterMs);
      await Promise.all(children.slice(1).map(end));
    },
    stop: async () => {
      await Promise.all(children.map(end));
    },
  };
}
