import type { History } from '../figures/history.js';

/** Returns text such as `0 of 1 up since 23:02 UTC`, as far as this gateway has observed it. */
export function upstreamState(history: History, name: string, nowMs: number): string {
  const state = history.stateOf(name);
  if (state === undefined) return '–';
  const { up, addresses, sinceMs } = state;
  return `${Math.round(up * addresses)} of ${addresses} up since ${clockTime(sinceMs, nowMs)}`;
}

/** Returns `23:02 UTC`, preceded by the date if that is not today. Takes Unix ms. */
function clockTime(atMs: number, nowMs: number): string {
  const [at, now] = [atMs, nowMs].map((one) => new Date(one).toISOString()) as [string, string];
  return `${at.slice(0, 10) === now.slice(0, 10) ? '' : `${at.slice(0, 10)} `}${at.slice(11, 16)} UTC`;
}
