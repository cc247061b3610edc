import type { LedgerRow } from '../ledger.js';

/** `day`: each final day once, and what came late of it, to be summed. `cumulative`: the counters as they stand, also of open days; the latest holds. */
export type PushMode = 'day' | 'cumulative';

/** A CloudEvent 1.0 about one key, day and what else it is grouped by. */
export interface UsageEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  /** Who pays: the customer's reference, or its id where it has none; of a key without a customer the key's id. */
  readonly subject: string;
  /** Beginning of the day: falls into the period it is billed in. */
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly data: Readonly<Record<string, string | number>>;
}

/** Who pays for a key. `customer` is the id, null of a key without one. */
export interface Payer {
  readonly customer: string | null;
  readonly subject: string;
}
export type PayerOf = (keyId: string) => Payer;
const itself: PayerOf = (keyId) => ({ customer: null, subject: keyId });

/** An event, and the key it is about: events come key by key, whoever pays. */
export interface KeyedEvent {
  readonly key: string;
  readonly event: UsageEvent;
}

const TYPES: Readonly<Record<PushMode, string>> = {
  day: 'petgate.usage.v1',
  cumulative: 'petgate.usage.cumulative.v1',
};
export const DIMENSIONS = ['day', 'key', 'plan', 'operation'] as const;
/** Columns of the ledger that an event carries. */
export const COUNTS = ['requests', 'limited', 'banned', 'failed', 'units'] as const;

/**
 * The event for a row of the ledger. The same row makes the same event, byte for byte; its id names the
 * group, and in cumulative mode the counts as well, so that sending it again changes nothing.
 * @param revision above 1 for what was added to a group after its first event
 */
export function eventOf(
  row: LedgerRow,
  mode: PushMode,
  source: string,
  revision = 1,
  payerOf: PayerOf = itself,
): UsageEvent {
  const dimensions = DIMENSIONS.flatMap((name) => (row.has(name) ? [[name, row.get(name)!] as const] : []));
  const counts = countsIn(row);
  const group = dimensions.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  const id = revision === 1 ? group : `${group}&rev=${revision}`;
  const { key = '', day = '', ...others } = Object.fromEntries(dimensions);
  const { customer, subject } = payerOf(key);
  return {
    specversion: '1.0',
    id: mode === 'day' ? id : `${group}&at=${totalsOf(counts).join('-')}`,
    source,
    type: TYPES[mode],
    subject,
    time: `${day}T00:00:00Z`,
    datacontenttype: 'application/json',
    data: { ...(customer === null ? {} : { customer, key }), ...others, day, ...counts },
  };
}

function countsIn(row: LedgerRow): Readonly<Record<(typeof COUNTS)[number], number>> {
  const count = (name: (typeof COUNTS)[number]): number => Number(row.get(name));
  const [requests, limited] = [count('requests'), count('limited')];
  return { requests, limited, banned: count('banned'), failed: count('failed'), units: count('units') };
}

/** What tells one state of a group's counts from another. Without units where every request cost one, as before there were any. */
function totalsOf(counts: Readonly<Record<(typeof COUNTS)[number], number>>): readonly number[] {
  const { requests, limited, banned, failed, units } = counts;
  return units === requests ? [requests, limited, banned, failed] : [requests, limited, banned, failed, units];
}
