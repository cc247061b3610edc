/** Returns `23:02 UTC`, preceded by the date if that is not today. Takes Unix ms. */
export function clockTime(atMs: number, nowMs: number): string {
  const [at, now] = [atMs, nowMs].map((one) => new Date(one).toISOString()) as [string, string];
  return `${at.slice(0, 10) === now.slice(0, 10) ? '' : `${at.slice(0, 10)} `}${at.slice(11, 16)} UTC`;
}
