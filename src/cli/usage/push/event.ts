import type { LedgerRow } from '../ledger.js';
import type { PayerOf } from './payers.js';

/** A CloudEvent 1.0 with usage, a correction or an amount. */
export interface UsageEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: 'petgate.usage.v1' | 'petgate.usage.correction.v1' | 'petgate.usage.amount.v1';
  /** The payer: the customer's reference, or its ID if it has none; for a key without a customer, the key's ID. */
  readonly subject: string;
  /** Start of the day or month, so that it falls into the period it is billed in. */
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly data: Readonly<Record<string, string | number | true>>;
}

const DIMENSIONS = ['day', 'key', 'plan', 'operation'] as const;
/** Columns of the ledger that an event carries. */
export const COUNTS = ['requests', 'limited', 'banned', 'failed', 'units', 'returned'] as const;

/** Returns the dimensions of a row as unique text. */
export function groupOf(row: LedgerRow): string {
  const names = DIMENSIONS.filter((name) => row.has(name));
  return names.map((name) => `${name}=${encodeURIComponent(row.get(name)!)}`).join('&');
}

/**
 * Returns the event of a ledger row. The same row gives the same event, byte for byte; its ID names the group.
 * @param revision above 1 for growth of a group after its first event
 */
export function eventOf(row: LedgerRow, source: string, payerOf: PayerOf, revision = 1): UsageEvent {
  const [key, day] = [row.get('key')!, row.get('day')!];
  const { customer, subject } = payerOf(key);
  const counts = Object.fromEntries(COUNTS.map((name) => [name, Number(row.get(name) ?? 0)]));
  const others = (['plan', 'operation'] as const).filter((name) => row.has(name));
  return {
    specversion: '1.0',
    id: revision === 1 ? groupOf(row) : `${groupOf(row)}&rev=${revision}`,
    source,
    type: 'petgate.usage.v1',
    subject,
    time: `${day}T00:00:00Z`,
    datacontenttype: 'application/json',
    data: {
      ...(customer === null ? {} : { customer, key }),
      ...Object.fromEntries(others.map((name) => [name, row.get(name)!])),
      day,
      ...counts,
      net: counts['units']! - counts['returned']!,
    },
  };
}
