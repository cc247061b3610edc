import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { childrenOf } from '../servers/program.js';

/** A process and all below it. */
function treeOf(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid).flatMap(treeOf)];
}

/**
 * CPU time, user and system, that a process and all below it used so far, µs, over all threads
 * (garbage collection and the store's own included), as the kernel counts it in nanoseconds.
 * A thread that ended is not counted any more; the programs measured here keep theirs.
 */
export function cpuUs(pid: number): number {
  return treeOf(pid).reduce((sum, one) => sum + threadsUs(one), 0);
}

function threadsUs(pid: number): number {
  const folder = `/proc/${pid}/task`;
  const usedNs = readdirSync(folder).map((thread) =>
    Number(readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return usedNs.reduce((sum, ns) => sum + ns, 0) / 1000;
}

/** Lets the kernel count the most memory anew, for the process and all below it. */
export function forgetPeakMemory(pid: number): void {
  for (const one of treeOf(pid)) writeFileSync(`/proc/${one}/clear_refs`, '5');
}

/** The most memory (VmHWM) since then, MiB. */
export function peakMemoryMiB(pid: number): number {
  return treeOf(pid).reduce(
    (sum, one) => sum + Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${one}/status`, 'utf8'))?.[1] ?? 0) / 1024,
    0,
  );
}

/** Memory that a process and all below it hold now (VmRSS), MiB. Of one that ended meanwhile, none. */
export function rssMiB(pid: number): number {
  return treeOf(pid).reduce((sum, one) => sum + rssKiB(one) / 1024, 0);
}

function rssKiB(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
