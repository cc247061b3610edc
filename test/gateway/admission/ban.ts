import type { BanRule } from '../../../src/gateway/admission/plan.js';

/** The ban of a plans file that says nothing else. */
export const BAN: BanRule = { after: 30, withinMs: 60_000, forMs: 300_000, factor: 2, capMs: 86_400_000 };
/** Nobody collects so many refusals. */
export const NO_BAN: BanRule = { ...BAN, after: 1_000_000 };
