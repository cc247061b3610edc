import { happened, type Outbox, type OutboxEntry, type OutboxState } from '../../outbox/event.js';
import { inTransaction, reading } from '../files/errors.js';
import { countRows } from '../files/count-rows.js';
import { AFTER_ALL, listedIn, listedRow, rangeOf } from '../files/rows.js';
import type { Store } from '../files/database.js';
import type { Stores } from '../owner/stores.js';
import { isAnyPending, nextPending } from '../journal/pending.js';
import { enter, forget, fresh, put, readEntry, remove, shown, type StoredEntry } from './entries.js';

/** Like the next one, bounds how long one transaction blocks the event loop. */
const FORGOTTEN_AT_ONCE = 100;
/** At least as many as one claim returns: otherwise some would wait for the next claim. */
const ENTERED_AT_ONCE = 64;

/** Returns the outbox in the file. Events come with the change of a record, or from the journal. */
export function outboxOf(stores: Stores): Outbox {
  const replace = (id: string, next: (there: StoredEntry) => StoredEntry): Promise<OutboxEntry | undefined> =>
    inTransaction(stores, () => {
      const there = readEntry(stores.durable, id);
      if (there === undefined) return undefined;
      remove(stores.durable, there);
      const entry = next(there);
      put(stores.durable, entry);
      return shown(entry);
    });
  /** Moves pending events into the outbox, a few per transaction, in at most `transactions`. */
  const enterPending = async (transactions: number): Promise<void> => {
    await stores.fold.takeOver();
    const enterSome = (): boolean => {
      for (let entered = 0; entered < ENTERED_AT_ONCE;) {
        const events = nextPending(stores.durable);
        if (events === undefined) return false;
        for (const event of events)
          if (typeof event === 'string') forget(stores.durable, event);
          else enter(stores.durable, event);
        entered += events.length;
      }
      return true;
    };
    if (!(await reading(stores, isAnyPending))) return;
    for (let made = 0; made < transactions && (await inTransaction(stores, enterSome)); made += 1);
  };
  return {
    async claim(count, leaseMs) {
      // Only part of a burst, so that older events are sent meanwhile.
      await enterPending(1);
      // A transaction syncs the disk, and nearly always nothing is due.
      if ((await reading(stores, (durable) => dueIn(durable, 1))).length === 0) return [];
      return inTransaction(stores, () =>
        dueIn(stores.durable, count).map((entry) => {
          remove(stores.durable, entry);
          put(stores.durable, { ...entry, leasedToMs: Date.now() + leaseMs, queued: true });
          return shown(entry);
        }),
      );
    },
    delivered: (id) => inTransaction(stores, () => forget(stores.durable, id)),
    async postpone({ event, attempts, failure }, pauseMs) {
      const dueAtMs = Date.now() + Math.round(pauseMs);
      await replace(event.id, (there) => ({ ...there, attempts, failure, dueAtMs, leasedToMs: dueAtMs }));
    },
    async deadLetter({ event, attempts, failure }) {
      await replace(event.id, (there) => ({ ...there, attempts, failure, dueAtMs: null, deadAtMs: Date.now() }));
    },
    async redeliver(id) {
      await enterPending(Infinity);
      return replace(id, ({ event, queued = false }) => ({ ...fresh(happened(event, Date.now())), queued }));
    },
    ...listingOf(stores, enterPending),
    forgetDead: (keptMs) =>
      inTransaction(stores, () => {
        const end = listedRow('z', Date.now() - keptMs, '');
        const rows = [...stores.durable.getKeys({ start: 'z', end, limit: FORGOTTEN_AT_ONCE })];
        for (const row of rows) forget(stores.durable, listedIn(row));
        return rows.length < FORGOTTEN_AT_ONCE;
      }),
    // Every claim moves the journal's events already.
    collect: () => Promise.resolve(true),
  };
}

/** Returns what operators see; each call moves pending events into the outbox first. */
function listingOf(
  stores: Stores,
  enterPending: (transactions: number) => Promise<void>,
): Pick<Outbox, 'read' | 'list' | 'figures'> {
  return {
    async read(id) {
      await enterPending(Infinity);
      return reading(stores, (durable) => {
        const there = readEntry(durable, id);
        return there && shown(there);
      });
    },
    async list(state, cursor, count) {
      await enterPending(Infinity);
      return reading(stores, (durable) => {
        const page = pageOf(durable, state === 'dead' ? 'z' : 'y', state, cursor, count);
        const entries = page.map((index) => readEntry(durable, listedIn(index))).filter((entry) => entry !== undefined);
        return { entries: entries.map(shown), cursor: page.length < count ? null : page.at(-1)! };
      });
    },
    async figures() {
      await enterPending(1);
      const ofWaiting = rangeOfList('y', 'waiting');
      const [oldest] = await reading(stores, (durable) => [...durable.getKeys({ ...ofWaiting, limit: 1 })]);
      const waiting = await countRows(stores.durable, ofWaiting);
      const oldestMs = oldest === undefined ? 0 : Math.max(0, Date.now() - Number(oldest.slice(1, 17)));
      return { waiting, dead: await countRows(stores.durable, rangeOf('z')), oldestMs };
    },
  };
}

/** Returns up to `count` due entries, claimed before or not, earliest first. */
function dueIn(durable: Store, count: number): readonly StoredEntry[] {
  const rows = ['O', 'd'].flatMap((list) => [
    ...durable.getKeys({ start: list, end: listedRow(list, Date.now(), AFTER_ALL), limit: count }),
  ]);
  const ordered = rows.sort((a, b) => (a.slice(1) < b.slice(1) ? -1 : 1)).slice(0, count);
  return ordered.map((row) => readEntry(durable, listedIn(row))).filter((entry) => entry !== undefined);
}

/** Returns the range of a list for a state: waiting and scheduled events share a list, ordered by time. */
function rangeOfList(list: string, state: OutboxState): { start: string; end: string } {
  const { start, end } = rangeOf(list);
  const now = listedRow(list, Date.now(), AFTER_ALL);
  if (state === 'scheduled') return { start: now, end };
  return { start, end: state === 'waiting' ? now : end };
}

/** Returns up to `count` names of rows after `cursor`, in order, without the letter of their list. */
function pageOf(
  durable: Store,
  list: string,
  state: OutboxState,
  cursor: string | null,
  count: number,
): readonly string[] {
  const { start, end } = rangeOfList(list, state);
  const from = cursor === null ? start : list + cursor;
  return [...durable.getKeys({ start: from, end, limit: count, exclusiveStart: true })].map((row) => row.slice(1));
}
