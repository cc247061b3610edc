import { NO_BAN } from '../servers/plans.js';
const ALWAYS = { minute: 1_000_000, day: 1_000_000 };
/** The third refusal starts it. */
const ban = { after: 3 };

/** A plan for each kind of answer: `tiny` refuses soon, `wide` and `anonymous` never. */
export const PLANS = {
  free: { limits: { minute: 60, day: 1000 }, ban },
  tiny: { limits: { minute: 1, day: 1000 }, ban },
  wide: { limits: ALWAYS, ban: NO_BAN },
  narrow: { limits: ALWAYS, ban, concurrency: 1 },
  prepaid: { limits: { balance: 'prepaid' }, ban },
  enterprise: { limits: 'custom', ban },
  anonymous: { limits: ALWAYS, ban },
};
