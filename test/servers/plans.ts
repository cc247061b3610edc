/** In a file of plans: refusals that nobody collects, so that nobody is banned. The rest of a ban has defaults. */
export const NO_BAN = { after: 1_000_000 };
