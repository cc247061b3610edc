import type { SubjectState } from '../admission/decide.js';

/**
 * Returns the state for a customer's key: the customer's buckets, with the key's strikes and ban. The buckets are
 * shared objects, so spending from them changes the customer.
 */
export function merged(key: SubjectState, customer: SubjectState): SubjectState {
  const { strikes, strikesSinceMs, bannedUntilMs, banLevel } = key;
  const { minute, day, month, operationWindows } = customer;
  return { minute, day, month, strikes, strikesSinceMs, bannedUntilMs, banLevel, operationWindows };
}

/** Copies back what is not shared: the key's strikes and ban, and the customer's map of operation windows. */
export function split(state: SubjectState, key: SubjectState, customer: SubjectState): void {
  customer.operationWindows = state.operationWindows;
  key.strikes = state.strikes;
  key.strikesSinceMs = state.strikesSinceMs;
  key.bannedUntilMs = state.bannedUntilMs;
  key.banLevel = state.banLevel;
}
