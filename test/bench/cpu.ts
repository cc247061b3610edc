import { readdirSync, readFileSync } from 'node:fs';

/**
 * CPU time a process has used so far, µs, over all its threads (garbage collection and the store's
 * own included), as the kernel counts it in nanoseconds. A thread that ended is not counted any more;
 * the programs measured here keep theirs.
 */
export function cpuUs(pid: number): number {
  const folder = `/proc/${pid}/task`;
  const usedNs = readdirSync(folder).map((thread) => Number(readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ')[0]));
  return usedNs.reduce((sum, ns) => sum + ns, 0) / 1000;
}
