import { SEPARATOR } from '../engines/embedded/rows.js';

/**
 * Names of what the failover adds to `durable` (see engines/embedded/rows.ts): `c` the copy of a key's
 * record, `q` counts of a ledger row that Redis has taken, `f` one fact.
 */
export const copyRow = (keyId: string): string => `c${keyId}`;
/** Named as the ledger row it is about. */
export const takenRow = (day: string, keyId: string, plan: string, operation: string): string => `q${[day, keyId, plan, operation].join(SEPARATOR)}`;

/** `spool`: id of this store. `gateways`: how many were seen last. `log`: until when changed keys were read, store ms. `day`: the first that Redis may not have taken whole. */
export type Fact = 'spool' | 'gateways' | 'log' | 'day';
export const factRow = (fact: Fact): string => `f${fact}`;
