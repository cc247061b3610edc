import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../../admission/port.js';
import { VersionConflict } from './conflicts.js';

const TRIES = 5;
const PAUSE_MS = 250;
/** For writes to a contested record; the pause grows, and is random so that writers do not collide again. */
const WRITES = 20;
const WRITE_PAUSE_MS = 10;

/**
 * Repeats an idempotent call while the store is unavailable: a busy store misses a deadline now and then, and long work
 * must not fail because of it.
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

/** Repeats a write if another came first; rejects with VersionConflict in the end. */
export async function untilUncontested<Answer>(attempt: () => Promise<Answer>): Promise<Answer> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (tried === WRITES || !(error instanceof VersionConflict)) throw error;
      await sleep(Math.random() * WRITE_PAUSE_MS * tried);
    }
  }
}
