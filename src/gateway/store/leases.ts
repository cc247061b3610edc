import { RENEWED_MS, type Lease } from '../admission/leases.js';
import { StoreUnavailable } from '../admission/port.js';
import { repeat } from '../../shared/turns/repeat.js';
import type { ServingEngine } from './port.js';

export interface LeaseTracker {
  began(lease: Lease): void;
  ended(lease: Lease): void;
  stop(): Promise<void>;
}

/** Renews the leases of this process's requests in flight. Without that, a lease ends by itself. */
export function trackLeases(engine: Pick<ServingEngine, 'renew'>, onError: (error: unknown) => void): LeaseTracker {
  const leases = new Map<string, Lease>();
  const nameOf = ({ keyId, id, isLocal }: Lease): string => `${keyId} ${id} ${isLocal}`;
  const renew = async (): Promise<void> => {
    if (leases.size > 0) await engine.renew([...leases.values()]);
  };
  return {
    began: (lease) => void leases.set(nameOf(lease), lease),
    ended: (lease) => void leases.delete(nameOf(lease)),
    stop: repeat(RENEWED_MS, renew, (error) => {
      if (!(error instanceof StoreUnavailable)) onError(error);
    }),
  };
}
