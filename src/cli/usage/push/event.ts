import { listIn, type AdminClient, type Json } from '../../admin/admin-client.js';
import type { LedgerRow } from '../ledger.js';

/** A CloudEvent 1.0 with usage, a correction or an amount. */
export type UsageEvent = ReturnType<typeof eventFor>;

/** What the events of one push have in common. */
export interface Origin {
  readonly source: string;
  /** Returns the customer's ID; null for a key without one. */
  readonly customerOf: (keyId: string) => string | null;
  /** By customer; empty for one without a reference. */
  readonly references: ReadonlyMap<string, string>;
}

/** What the events of each group add up to; `revision` is their number. A group is the ID without its revision. */
export type Sums = ReadonlyMap<string, Json>;

const DIMENSIONS = ['day', 'key', 'plan', 'operation'] as const;
const COUNTS = ['requests', 'limited', 'banned', 'failed', 'units', 'returned'] as const;
const OWED = ['base', 'included', 'overage', 'amount'] as const;

/** Reads the references of all customers once. */
export async function originOf(client: AdminClient, source: string): Promise<Origin> {
  // Imported only here: the image of pets has this command line, but no gateway.
  const { customerOf } = await import('../../../gateway/store/records/customer-id.js');
  const page = await client.askAll('/admin/v1/customers', new URLSearchParams(), 'customers');
  const references = new Map(listIn(page, 'customers').map(({ id, reference }) => [String(id), String(reference)]));
  return { source, customerOf, references };
}

export async function sumsOf(events: AsyncIterable<{ readonly event: UsageEvent }>): Promise<Sums> {
  const sums = new Map<string, Json>();
  for await (const { event } of events) {
    const group = event.id.replace(/&rev=\d+$/, '');
    const sum = sums.get(group) ?? {};
    const added = COUNTS.map((name) => [name, countIn(sum, name) + countIn(event.data, name)] as const);
    sums.set(group, { ...Object.fromEntries(added), revision: countIn(sum, 'revision') + 1 });
  }
  return sums;
}

/**
 * Returns the event of what a ledger row has beyond the sum of its group; undefined if that is nothing. The same row
 * and sum give the same event, byte for byte; its ID names the group, and from the second on, its revision.
 */
export function usageEvent(row: LedgerRow, sums: Sums, origin: Origin): UsageEvent | undefined {
  const { key = '', day = '', plan, operation } = row;
  const group = groupOf(row);
  const sum = sums.get(group) ?? {};
  const revision = countIn(sum, 'revision');
  const more = COUNTS.map((name) => [name, Math.max(countIn(row, name) - countIn(sum, name), 0)] as const);
  if (revision > 0 && more.every(([, count]) => count === 0)) return undefined;
  const grown = Object.fromEntries(more) as Record<(typeof COUNTS)[number], number>;
  const customer = origin.customerOf(key) ?? undefined;
  return eventFor(origin, customer ?? key, day, {
    id: revision === 0 ? group : `${group}&rev=${revision + 1}`,
    type: 'petgate.usage.v1',
    data: {
      ...{ customer, key: customer && key, plan, operation },
      ...{ day, ...grown, net: grown.units - grown.returned },
    },
  });
}

/**
 * Returns the event of a correction, to be added to the counts of its day.
 * @param isSentOf whether the amount of a month was saved: without it
 */
export function correctionEvent(correction: Json, isSentOf: (month: string) => boolean, origin: Origin): UsageEvent {
  const { id, key, customer, day, plan, requests, units, reason, at } = correction;
  return eventFor(origin, String(customer ?? key), String(day), {
    id: `correction=${encodeURIComponent(String(id))}&of=${String(key ?? customer)}`,
    type: 'petgate.usage.correction.v1',
    data: {
      ...{ customer: customer ?? undefined, key: key ?? undefined },
      ...{ plan, day, requests, units, net: units, correction: id, reason, at },
      notInAmount: isSentOf(String(day).slice(0, 7)) || undefined,
    },
  });
}

/** Returns the event of what a payer owes for a month on a plan. */
export function amountEvent(row: LedgerRow, month: string, origin: Origin): UsageEvent {
  const { customer: payer = '', plan = '', currency = '', unknown = '' } = row;
  const known = ['units', 'returned', 'correctedUnits', ...(unknown === '' ? OWED : [])].filter((name) => name in row);
  return eventFor(origin, payer, `${month}-01`, {
    id: `month=${month}&payer=${payer}&plan=${encodeURIComponent(plan)}`,
    type: 'petgate.usage.amount.v1',
    data: {
      ...{ payer, plan, month },
      // Above 2^53 the digits.
      ...Object.fromEntries(
        known.map((name) => [name, Number.isSafeInteger(countIn(row, name)) ? countIn(row, name) : row[name]]),
      ),
      ...{ currency: currency || undefined, unknown: unknown || undefined },
    },
  });
}

/** Parses a line of a file of events. Version 0.4 wrote rows of the ledger with a revision, and IDs of corrections. */
export function parseEvent(line: string, origin: Origin): UsageEvent {
  const { revision, ...row } = (line.startsWith('{') ? JSON.parse(line) : { id: line }) as { revision?: number };
  if (revision === undefined) return row as UsageEvent;
  return usageEvent(row, new Map([[groupOf(row), { revision: revision - 1 }]]), origin)!;
}

function eventFor(
  { source, references }: Origin,
  payer: string,
  /** Begins the day or month, so that the event falls into the period it is billed in. */
  day: string,
  { id, type, data }: { readonly id: string; readonly type: `petgate.usage.${string}`; readonly data: Json },
) {
  const [subject, time] = [references.get(payer) || payer, `${day}T00:00:00Z`];
  const [specversion, datacontenttype] = ['1.0', 'application/json'] as const;
  return { specversion, id, source, type, subject, time, datacontenttype, data };
}

function groupOf(row: LedgerRow): string {
  const names = DIMENSIONS.filter((name) => name in row);
  return names.map((name) => `${name}=${encodeURIComponent(row[name]!)}`).join('&');
}

function countIn(counts: Json, name: string): number {
  return Number(counts[name] ?? 0);
}
