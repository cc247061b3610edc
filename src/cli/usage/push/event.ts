import type { Json } from '../../admin/admin-client.js';
import type { LedgerRow } from '../ledger.js';
import type { Payers } from './payers.js';

/** A CloudEvent 1.0 with usage, a correction or an amount. */
export interface UsageEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: `petgate.usage.${'' | 'correction.' | 'amount.'}v1`;
  /** The payer: the customer's reference, or its ID if it has none; for a key without a customer, the key's ID. */
  readonly subject: string;
  /** Start of the day or month, so that it falls into the period it is billed in. */
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly data: Json;
}

/** What the events of one group add up to. */
export interface Sum {
  /** Number of its events. */
  readonly revision: number;
  readonly counts: Json;
}

const DIMENSIONS = ['day', 'key', 'plan', 'operation'] as const;
const COUNTS = ['requests', 'limited', 'banned', 'failed', 'units', 'returned'] as const;

/** Returns an event with `data` of a day or month that begins at `day`. */
export function eventFor(
  day: string,
  event: Pick<UsageEvent, 'id' | 'source' | 'type' | 'subject' | 'data'>,
): UsageEvent {
  const { id, source, type, subject, data } = event;
  const time = `${day}T00:00:00Z`;
  return { specversion: '1.0', id, source, type, subject, time, datacontenttype: 'application/json', data };
}

/** Adds up events by group: the ID without its revision. */
export async function sumsOf(events: AsyncIterable<{ readonly event: UsageEvent }>): Promise<Map<string, Sum>> {
  const sums = new Map<string, Sum>();
  for await (const { event } of events) {
    const group = event.id.replace(/&rev=\d+$/, '');
    const { revision, counts } = sums.get(group) ?? { revision: 0, counts: {} };
    const added = COUNTS.map((name) => [name, countIn(counts, name) + countIn(event.data, name)]);
    sums.set(group, { revision: revision + 1, counts: Object.fromEntries(added) as Json });
  }
  return sums;
}

/**
 * Returns the event of what a ledger row has beyond the sum of its group; undefined if that is nothing. The same row
 * and sum give the same event, byte for byte; its ID names the group, and from the second on, its revision.
 */
export function eventOf(
  row: LedgerRow,
  source: string,
  payers: Payers,
  sumOf: (group: string) => Sum | undefined,
): UsageEvent | undefined {
  const names = DIMENSIONS.filter((name) => row.has(name));
  const group = names.map((name) => `${name}=${encodeURIComponent(row.get(name)!)}`).join('&');
  const sum = sumOf(group);
  const cells = Object.fromEntries(row);
  const more = COUNTS.map((name) => [name, Math.max(countIn(cells, name) - countIn(sum?.counts ?? {}, name), 0)]);
  const counts = Object.fromEntries(more) as Record<(typeof COUNTS)[number], number>;
  if (sum !== undefined && Object.values(counts).every((count) => count === 0)) return undefined;
  const [key, day] = [row.get('key')!, row.get('day')!];
  const customer = payers.customerOf(key);
  const others = (['plan', 'operation'] as const).filter((name) => row.has(name));
  return eventFor(day, {
    id: sum === undefined ? group : `${group}&rev=${sum.revision + 1}`,
    ...{ source, type: 'petgate.usage.v1', subject: payers.subjectOf(customer ?? key) },
    data: {
      ...(customer === null ? {} : { customer, key }),
      ...Object.fromEntries(others.map((name) => [name, row.get(name)!])),
      ...{ day, ...counts, net: counts.units - counts.returned },
    },
  });
}

/** Parses a line of a file of events. Version 0.4 wrote rows of the ledger with a revision, and IDs of corrections. */
export function parseEvent(line: string, source: string, payers: Payers): UsageEvent {
  const { revision, ...event } = (line.startsWith('{') ? JSON.parse(line) : { id: line }) as UsageEvent & Partial<Sum>;
  if (revision === undefined) return event;
  const row = new Map(Object.entries(event as unknown as Readonly<Record<string, string>>));
  return eventOf(row, source, payers, () => (revision === 1 ? undefined : { revision: revision - 1, counts: {} }))!;
}

function countIn(counts: Json, name: string): number {
  return Number(counts[name] ?? 0);
}
