import { isCopy, type GatewayEvent, type OutboxEntry } from '../../outbox/event.js';
import { eventRow, listedRow } from '../files/rows.js';
import type { Store } from '../files/store.js';

const NOTHING = Buffer.alloc(0);

/**
 * An entry as its row has it. A lease is a time at which it is due, so that a time stands there always while it waits.
 */
export interface StoredEntry extends OutboxEntry {
  readonly leasedToMs: number;
  /** Whether it is in the queue; absent for a new one. */
  readonly queued?: boolean;
}

/** In a transaction: a new event, due as soon as it has happened. One that is there stays: it may have been tried. */
export function enter(durable: Store, event: GatewayEvent): void {
  if (readEntry(durable, event.id) === undefined) put(durable, fresh(event));
}

export function fresh(event: GatewayEvent): StoredEntry {
  return { event, attempts: 0, failure: null, dueAtMs: null, deadAtMs: null, leasedToMs: event.atMs };
}

/** In a transaction: there is no such event any more. */
export function forget(durable: Store, id: string): void {
  const there = readEntry(durable, id);
  if (there === undefined) return;
  remove(durable, there);
  durable.removeSync(eventRow(id));
}

export function readEntry(durable: Store, id: string): StoredEntry | undefined {
  if (isCopy(id)) return undefined;
  const bytes = durable.getBinary(eventRow(id));
  return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as StoredEntry);
}

export function put(durable: Store, entry: StoredEntry): void {
  durable.putSync(eventRow(entry.event.id), Buffer.from(JSON.stringify(entry)));
  for (const row of listed(entry)) durable.putSync(row, NOTHING);
}

/** Out of the lists; its own row stays. */
export function remove(durable: Store, entry: StoredEntry): void {
  for (const row of listed(entry)) durable.removeSync(row);
}

function listed({ event: { id, atMs }, deadAtMs, leasedToMs, queued = false }: StoredEntry): readonly string[] {
  if (deadAtMs !== null) return [listedRow('z', deadAtMs, id)];
  return [listedRow('y', atMs, id), listedRow(queued ? 'O' : 'd', leasedToMs, id)];
}

/** Without what is the store's own. */
export function shown({ event, attempts, failure, dueAtMs, deadAtMs }: StoredEntry): OutboxEntry {
  return { event, attempts, failure, dueAtMs, deadAtMs };
}
