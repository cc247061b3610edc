import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../admission/port.js';

const TRIES = 5;
const PAUSE_MS = 250;

/**
 * Makes a call that may be repeated again while the store is unavailable: a busy one misses a deadline now and then,
 * and long work must not die of one.
 */
export async function withRetry<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await call();
    } catch (error) {
      if (tried === TRIES || !(error instanceof StoreUnavailable)) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
