import assert from 'node:assert/strict';
import type { WindowFigures } from '../../../src/gateway/admission/bucket.js';
import type { AdmittedVerdict, Standing, StandingVerdict, Verdict } from '../../../src/gateway/admission/verdict.js';

export const MINUTE = { name: 'minute', per: 'minute' } as const;
export const DAY = { name: 'day', per: 'day' } as const;
const WINDOW = { limit: 60, remaining: 59, resetAtMs: 0 };

/** Where key `k` stands after its first request, at moment 0. */
export const STANDING: Standing = {
  keyId: 'k',
  recordVersion: 1,
  plan: 'free',
  windows: [
    { ...MINUTE, ...WINDOW },
    { ...DAY, ...WINDOW },
  ],
  cost: 1,
  atMs: 0,
  inScope: true,
};

export const ADMITTED: AdmittedVerdict = { ...STANDING, outcome: 'admitted' };

/** The window of this name, which the verdict must show. */
export function windowOf({ windows }: Pick<Standing, 'windows'>, name: string): WindowFigures {
  const window = windows.find((each) => each.name === name);
  assert.ok(window !== undefined, `no window "${name}" in the verdict`);
  return window;
}

/** The verdict with its windows by name. */
export function byName(
  verdict: Verdict | undefined,
): Omit<StandingVerdict, 'windows'> & { readonly windows: Readonly<Record<string, WindowFigures>> } {
  assert.ok(verdict !== undefined && verdict.outcome !== 'unknown_key');
  return { ...verdict, windows: Object.fromEntries(verdict.windows.map((window) => [window.name, window])) };
}

/** The windows after minute and day. */
export function othersOf({ windows }: Pick<Standing, 'windows'>): readonly WindowFigures[] {
  assert.deepEqual([windows[0]?.name, windows[1]?.name], ['minute', 'day']);
  return windows.slice(2);
}
