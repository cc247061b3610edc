/** First byte of a response of the admission script. Summaries store some, so their numbers must not change. */
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
  'crowded',
] as const;

/** Flag: the key's own limits of month and of requests in flight precede the windows. */
export const OWN_LIMITS_FLAG = 16;
/** Flag: length and text of grants follow the state. */
export const GRANTS_FLAG = 32;
/** Flag: the request noted a crossing or a ban (outbox/pending.ts). */
export const NOTED_FLAG = 64;
/** Flag: the key lacks the operation's scope. */
export const OUT_OF_SCOPE_FLAG = 128;

/**
 * Code, index of the plan, then doubles: store time, version of the record (0: none), minute limit, day limit (-1:
 * unlimited).
 */
export const HEAD_FORMAT = '<BHdddd';
export const HEAD_BYTES = 35;

/** Represents a limit that a key or customer does not have. */
export const NO_LIMIT = -2;
