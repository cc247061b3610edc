/** First byte of each answer of the admission script. Some stand in summaries: they keep their places. */
export const CODES = [
  'admitted',
  'closed',
  'limited',
  'banned',
  'ban_started',
  'unknown',
  'disabled',
  'expired',
  'revoked',
  'no_plan',
] as const;

/** Added to the code of an answer in which, before its windows, the month limit of the key's own stands. */
export const OWN_MONTH_FLAG = 16;
/** Added to the code of an answer in which, right after the state, the length and the text of grants stand. */
export const GRANTS_FLAG = 32;
/** Added where the request noted something to be emitted (outbox/pending.ts). */
export const NOTED_FLAG = 64;
/** Added where the key lacks the operation's scope. */
export const OUT_OF_SCOPE_FLAG = 128;

/**
 * Code, index of the plan, then doubles: store time, version of the record (0: none), minute limit, day limit (-1:
 * unlimited).
 */
export const HEAD_FORMAT = '<BHdddd';
export const HEAD_BYTES = 35;

/** In place of a limit where a key, or a customer, has none of its own. */
export const NO_LIMIT = -2;
