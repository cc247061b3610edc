import type { SubjectState } from '../admission/decide.js';

/**
 * What is decided on of a customer's key: buckets of the customer, strikes and ban of the key. The buckets
 * are the customer's own, so that spending from them needs no way back.
 */
export function merged(key: SubjectState, customer: SubjectState): SubjectState {
  const { strikes, strikesSinceMs, bannedUntilMs, banLevel } = key;
  const { minute, day, month, operationWindows } = customer;
  return { minute, day, month, strikes, strikesSinceMs, bannedUntilMs, banLevel, operationWindows };
}

/** Gives both what the decision left beside the buckets themselves. */
export function split(state: SubjectState, key: SubjectState, customer: SubjectState): void {
  customer.operationWindows = state.operationWindows;
  key.strikes = state.strikes;
  key.strikesSinceMs = state.strikesSinceMs;
  key.bannedUntilMs = state.bannedUntilMs;
  key.banLevel = state.banLevel;
}
