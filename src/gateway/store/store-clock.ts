import type { AdmissionEngine } from './port.js';

/** Now, in ms. */
export type Clock = () => Promise<number>;

/** The store's clock, never a gateway's: an admission of cost 0 shows it and changes nothing. */
export function storeClock(engine: Pick<AdmissionEngine, 'admit'>): Clock {
  return async () => {
    const [verdict] = await engine.admit([
      { subject: { kind: 'address', address: '127.0.0.1' }, operation: 'unmatched', scope: null, cost: 0 },
    ]);
    // Without a plan for addresses there is no standing to read; then this machine's clock must do.
    return verdict === undefined || verdict.outcome === 'unknown_key' ? Date.now() : verdict.atMs;
  };
}
