/** First byte of each answer of the admission script. Some stand in summaries (summary.ts): they keep their places. */
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
/** Added where the request noted something that is to be told (outbox/pending.ts). */
export const NOTED_FLAG = 64;
/** Added where the key lacks the operation's scope. */
export const OUT_OF_SCOPE_FLAG = 128;

/** Codes by name, as the pieces of the script write them. */
export const CODE = Object.fromEntries(CODES.map((code, place) => [code, place])) as Readonly<
  Record<(typeof CODES)[number], number>
>;
