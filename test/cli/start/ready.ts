import { readFileSync, readdirSync } from 'node:fs';
import { eventually } from '../programs.js';
import type { Running } from '../programs.js';

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
export function killAll(pids: readonly number[]): void {
  for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL');
}

/** Waits until both programs run; gives the address of each. */
export async function ready(running: Running): Promise<ReadonlyMap<string, string>> {
  await eventually(
    'start says how to stop',
    () => running.output().includes('Ctrl-C stops.') || (running.child.exitCode !== null && fail(running)),
  );
  return new Map([...running.output().matchAll(READY)].map(([, name, url]) => [name!, url!]));
}

function fail(running: Running): never {
  throw new Error(`start ended: ${running.output()}`);
}
