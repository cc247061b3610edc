import { readFileSync, readdirSync } from 'node:fs';
import type { Test } from 'tap';
import { begin, dataFolder, eventually, surroundings, type Running } from '../programs.js';

const READY = /ready {2}(pets|gateway) +(https?:\S+)/g;

/** The two programs under a supervisor, by what /proc says of their parent and command. */
export function childrenOf({ child }: Running): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
      if (parent === String(child.pid))
        found.set(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[2] ?? '', Number(pid));
    } catch {
      // It ended meanwhile.
    }
  }
  return found;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Also where the promise is broken, no test may leave a program behind. */
function killAll(pids: readonly number[]): void {
  for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL');
}

/** Waits until both programs run; gives the address of each. */
export async function ready(running: Running): Promise<ReadonlyMap<string, string>> {
  let end: number | string | undefined;
  void running.ended.then((code) => (end = code));
  await eventually('start says how to stop', () => {
    if (end !== undefined) throw new Error(`start ended with ${end}`);
    return running.output().includes('Ctrl-C stops.');
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}; it said: ${running.output()}`);
  });
  return new Map([...running.output().matchAll(READY)].map(([, name, url]) => [name!, url!]));
}

/** Both programs under `petgate start` on a data folder of its own, and their pids; none of them outlives the test. */
export async function startBoth(t: Test): Promise<{ readonly running: Running; readonly pids: readonly number[] }> {
  const running = begin(t, ['start'], surroundings(dataFolder(t)));
  await ready(running);
  const pids = [...childrenOf(running).values()];
  t.teardown(() => killAll(pids));
  t.equal(pids.length, 2);
  return { running, pids };
}
