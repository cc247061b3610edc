import { happened, isCopy } from '../../../events/outbox.js';
import type { GatewayEvent, Outbox, OutboxEntry, OutboxState } from '../../../events/outbox.js';
import { attempt, inTransaction } from '../files/errors.js';
import { AFTER_ALL, eventIdOf, eventRow, listedRow, rangeOf } from '../files/rows.js';
import type { Store } from '../files/store.js';
import type { Stores } from '../files/stores.js';

const NOTHING = Buffer.alloc(0);
/** Bounds how long one transaction holds up the event loop. */
const FORGOTTEN_AT_ONCE = 100;

/** An entry as its row has it. A lease is a time at which it is due, so that a time stands there always while it waits. */
interface Stored extends OutboxEntry {
  readonly leasedToMs: number;
}

/** In a transaction: a new event, due as soon as it has happened. */
export function enter(durable: Store, event: GatewayEvent): void {
  const there = readIn(durable, event.id);
  if (there !== undefined) remove(durable, there);
  put(durable, fresh(event));
}

/** The same, but what is there stays: it may have been tried already. */
export function enterOnce(durable: Store, event: GatewayEvent): void {
  if (readIn(durable, event.id) === undefined) put(durable, fresh(event));
}

function fresh(event: GatewayEvent): Stored {
  return { event, attempts: 0, failure: null, dueAtMs: null, deadAtMs: null, leasedToMs: event.atMs };
}

/**
 * Events lie in `durable`, where each is written with the record it is about.
 * @param takeOver enters there what admissions wrote
 */
export function outboxOf(stores: Stores, takeOver: () => Promise<void>): Outbox {
  const { durable } = stores;
  const replace = (id: string, next: (there: Stored) => Stored): Promise<OutboxEntry | undefined> =>
    inTransaction(stores, () => {
      const there = readIn(durable, id);
      if (there === undefined) return undefined;
      remove(durable, there);
      const entry = next(there);
      put(durable, entry);
      return shown(entry);
    });
  return {
    async claim(count, leaseMs) {
      await takeOver();
      // A transaction syncs the disk; nearly always nothing is due.
      if (!(await attempt(stores, () => (durable.resetReadTxn(), dueIn(durable, 1).length > 0)))) return [];
      return inTransaction(stores, () => dueIn(durable, count).map((id) => lease(durable, id, Date.now() + leaseMs)));
    },
    enter: (event) => inTransaction(stores, () => enterOnce(durable, event)),
    delivered: (id) => inTransaction(stores, () => forget(durable, id)),
    async postpone({ event, attempts, failure }, pauseMs) {
      const dueAtMs = Date.now() + Math.round(pauseMs);
      await replace(event.id, (there) => ({ ...there, attempts, failure, dueAtMs, leasedToMs: dueAtMs }));
    },
    async bury({ event, attempts, failure }) {
      await replace(event.id, (there) => ({ ...there, attempts, failure, dueAtMs: null, deadAtMs: Date.now() }));
    },
    redeliver: (id) => replace(id, ({ event }) => fresh(happened(event, Date.now()))),
    read: (id) =>
      attempt(stores, () => {
        durable.resetReadTxn();
        const there = readIn(durable, id);
        return there && shown(there);
      }),
    async list(state, cursor, count) {
      await takeOver();
      return attempt(stores, () => {
        durable.resetReadTxn();
        const { start, end } = listOf(state);
        const from = cursor === null ? start : start.slice(0, 1) + cursor;
        const rows = [...durable.getKeys({ start: from, end, limit: count, exclusiveStart: true })];
        const entries = rows.map((row) => readIn(durable, eventIdOf(row))).filter((entry) => entry !== undefined);
        return { entries: entries.map(shown), cursor: rows.length < count ? null : rows.at(-1)!.slice(1) };
      });
    },
    figures: () =>
      attempt(stores, () => {
        durable.resetReadTxn();
        const [waiting, dead] = [durable.getKeysCount(listOf('waiting')), durable.getKeysCount(rangeOf('z'))];
        const oldest = oldestIn(durable);
        const madeMs = oldest === undefined ? Infinity : Number(oldest.slice(1, 17));
        return { waiting, dead, oldestMs: Math.max(0, Date.now() - madeMs) };
      }),
    forgetDead: (keptMs) =>
      inTransaction(stores, () => {
        const end = listedRow('z', Date.now() - keptMs, '');
        const rows = [...durable.getKeys({ start: 'z', end, limit: FORGOTTEN_AT_ONCE })];
        for (const row of rows) forget(durable, eventIdOf(row));
      }),
    // What any process committed is taken over with every claim.
    collect: () => Promise.resolve(true),
  };
}

/** The row of the oldest event that waits for the operators' webhook. */
function oldestIn(durable: Store): string | undefined {
  for (const row of durable.getKeys(listOf('waiting'))) if (!isCopy(eventIdOf(row))) return row;
  return undefined;
}

/** The rows of a list; those that have happened by now and those that haven't share one. */
function listOf(state: OutboxState): { start: string; end: string } {
  if (state === 'dead') return rangeOf('z');
  const now = listedRow('y', Date.now(), AFTER_ALL);
  const { start, end } = rangeOf('y');
  return state === 'waiting' ? { start, end: now } : { start: now, end };
}

function dueIn(durable: Store, count: number): readonly string[] {
  const end = listedRow('d', Date.now(), AFTER_ALL);
  return [...durable.getKeys({ start: 'd', end, limit: count })].map(eventIdOf);
}

function lease(durable: Store, id: string, leasedToMs: number): OutboxEntry {
  // The list and the entries change together alone.
  const there = readIn(durable, id)!;
  remove(durable, there);
  put(durable, { ...there, leasedToMs });
  return shown(there);
}

/** In a transaction: there is no such event any more. */
export function forget(durable: Store, id: string): void {
  const there = readIn(durable, id);
  if (there === undefined) return;
  remove(durable, there);
  durable.removeSync(eventRow(id));
}

function readIn(durable: Store, id: string): Stored | undefined {
  const bytes = durable.getBinary(eventRow(id));
  return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as Stored);
}

function put(durable: Store, entry: Stored): void {
  durable.putSync(eventRow(entry.event.id), Buffer.from(JSON.stringify(entry)));
  for (const row of listed(entry)) durable.putSync(row, NOTHING);
}

/** Out of the lists; its own row stays. */
function remove(durable: Store, entry: Stored): void {
  for (const row of listed(entry)) durable.removeSync(row);
}

function listed({ event: { id, atMs }, deadAtMs, leasedToMs }: Stored): readonly string[] {
  return deadAtMs === null
    ? [listedRow('y', atMs, id), listedRow('d', leasedToMs, id)]
    : [listedRow('z', deadAtMs, id)];
}

function shown({ event, attempts, failure, dueAtMs, deadAtMs }: Stored): OutboxEntry {
  return { event, attempts, failure, dueAtMs, deadAtMs };
}
