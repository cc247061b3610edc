import type { WindowFigures } from '../../../src/gateway/admission/bucket.js';
import type { AdmittedVerdict, Standing } from '../../../src/gateway/admission/verdict.js';

const WINDOW: WindowFigures = { limit: 60, remaining: 59, resetAtMs: 0 };

/** Where key `k` stands after its first request, at moment 0. */
export const STANDING: Standing = {
  keyId: 'k',
  recordVersion: 1,
  plan: 'free',
  minute: WINDOW,
  day: WINDOW,
  more: [],
  cost: 1,
  atMs: 0,
  inScope: true,
};

export const ADMITTED: AdmittedVerdict = { ...STANDING, outcome: 'admitted' };
