import type { AdmissionEngine } from './port.js';

/** Resolves to the current time, unix ms. */
export type Clock = () => Promise<number>;

/** Returns the store's clock, which it reads with an admission at cost 0. */
export function storeClock(engine: Pick<AdmissionEngine, 'admit'>): Clock {
  return async () => {
    const [verdict] = await engine.admit([
      { subject: { kind: 'address', address: '127.0.0.1' }, operation: 'unmatched', scope: null, cost: 0 },
    ]);
    // Without a plan for addresses there is no verdict; use this machine's clock.
    return verdict === undefined || verdict.outcome === 'unknown_key' ? Date.now() : verdict.atMs;
  };
}
