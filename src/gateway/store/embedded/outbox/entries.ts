import { isCopy, type GatewayEvent, type OutboxEntry } from '../../outbox/event.js';
import { eventRow, listedRow } from '../files/rows.js';
import type { Store } from '../files/database.js';

const NOTHING = Buffer.alloc(0);

/** An entry as stored. */
export interface StoredEntry extends OutboxEntry {
  /** When it is due next: at its time, after a pause, or when its lease ends. */
  readonly leasedToMs: number;
  /** Whether it was claimed before. */
  readonly queued?: boolean;
}

/** Adds an event, due when it happens. An existing one stays: it may have been tried already. In a transaction. */
export function enter(durable: Store, event: GatewayEvent): void {
  if (readEntry(durable, event.id) === undefined) put(durable, fresh(event));
}

export function fresh(event: GatewayEvent): StoredEntry {
  return { event, attempts: 0, failure: null, dueAtMs: null, deadAtMs: null, leasedToMs: event.atMs };
}

/** Deletes an event, if it exists. In a transaction. */
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

/** Removes an entry from the lists; its own row stays. */
export function remove(durable: Store, entry: StoredEntry): void {
  for (const row of listed(entry)) durable.removeSync(row);
}

function listed({ event: { id, atMs }, deadAtMs, leasedToMs, queued = false }: StoredEntry): readonly string[] {
  if (deadAtMs !== null) return [listedRow('z', deadAtMs, id)];
  return [listedRow('y', atMs, id), listedRow(queued ? 'O' : 'd', leasedToMs, id)];
}

/** Returns the entry without the fields that only the store uses. */
export function shown({ event, attempts, failure, dueAtMs, deadAtMs }: StoredEntry): OutboxEntry {
  return { event, attempts, failure, dueAtMs, deadAtMs };
}
