import { existsSync, readFileSync } from 'node:fs';
import type { Test } from 'tap';
import { childrenOf as pidsUnder } from '../../servers/program.js';
import { until } from '../../servers/until.js';
import { begin, dataFolder, surroundings, type Running } from '../programs.js';

const READY = /ready {2}(pets|gateway) +(https?:\S+)/g;

/** The two programs under a supervisor, by what /proc says of their command. */
export function childrenOf({ child }: Running): ReadonlyMap<string, number> {
  const pids = pidsUnder(child.pid!).filter((pid) => existsSync(`/proc/${pid}/cmdline`));
  return new Map(pids.map((pid) => [readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[2] ?? '', pid]));
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
  await until('start says how to stop', () => end !== undefined || running.output().includes('Ctrl-C stops.'));
  if (end !== undefined) throw new Error(`start ended with ${end}; it said: ${running.output()}`);
  return new Map([...running.output().matchAll(READY)].map(([, name, url]) => [name!, url!]));
}

/** Stops both programs with a signal. */
export async function end(t: Test, { child, ended }: Running, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  child.kill(signal);
  t.equal(await ended, 0);
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
