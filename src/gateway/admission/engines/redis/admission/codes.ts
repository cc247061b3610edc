/** First byte of each answer of the admission script. */
export const CODES = [
  'admitted',
  'out_of_scope',
  'limited',
  'banned',
  'ban_started',
  'unknown',
  'disabled',
  'expired',
  'revoked',
  'no_plan',
  'staged',
  'closed',
] as const;

/** Codes by name, as the pieces of the script write them. */
export const CODE = Object.fromEntries(CODES.map((code, place) => [code, place])) as Readonly<
  Record<(typeof CODES)[number], number>
>;
