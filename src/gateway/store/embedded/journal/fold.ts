import { setTimeout as later } from 'node:timers/promises';
import { oneAtATime } from '../../../../shared/turns/one-at-a-time.js';
import { packState } from '../../state.js';
import { dayOf } from '../../../../shared/utc-day.js';
import { attempt, type OpenFile } from '../files/errors.js';
import { TAKEN_MARK, usageRow } from '../files/rows.js';
import { putDouble, type Store } from '../files/database.js';
import type { Capacity } from '../files/capacity.js';
import type { Journal } from './journal.js';
import type { Memory } from './memory.js';
import { putBans } from './ban-history.js';
import { packCounts, type Entry } from './entry.js';
import { appendPending } from './pending.js';

/** Subjects per transaction: bounds how long the event loop waits. */
const FOLDED_AT_ONCE = 250;
/** Subjects grouped before the event loop gets a turn. */
const ORDERED_AT_ONCE = 5_000;
/** Pause between transactions, for admissions. */
const PAUSE_MS = 1;

/** An open store, as a fold sees it (owner/stores.ts). */
interface Parts extends OpenFile {
  readonly durableCapacity: Capacity;
  readonly journal: Journal;
  readonly memory: Memory;
}

/** Moves the journal's contents into the file, in the order of its rows, and deletes the journal files. */
interface Fold {
  /** Moves all events, automatic bans and single rows that were appended before the call. */
  readonly takeOver: () => Promise<void>;
  /** Moves these and all subjects. Both reject with StoreUnavailable. */
  readonly run: () => Promise<void>;
}

export function foldOf(stores: Parts): Fold {
  const takeOver = oneAtATime(() => attempt(stores, () => takePending(stores)));
  const run = oneAtATime(() =>
    attempt(stores, async () => {
      // Starts over if a failed batch made memory read everything again meanwhile.
      while (!(await foldOnce(stores, takeOver)));
    }),
  );
  return { takeOver, run };
}

async function takePending(stores: Parts): Promise<void> {
  const { journal, memory } = stores;
  if (!memory.hasPending) return;
  // Events that a power cut removes from the journal are never sent.
  const synced = await journal.sync();
  await stores.write((durable) => {
    stores.durableCapacity.claim();
    const { pending, rows } = memory.pendingTo(synced);
    for (const { events, bans } of pending) {
      appendPending(durable, events);
      putBans(durable, bans);
    }
    for (const [name, { bytes }] of rows)
      if (bytes === null) durable.removeSync(name);
      else durable.putSync(name, bytes);
    putDouble(durable, TAKEN_MARK, synced);
  });
  memory.taken(synced);
}

async function foldOnce(stores: Parts, takeOver: Fold['takeOver']): Promise<boolean> {
  const { journal, memory } = stores;
  if (memory.unfoldedCount === 0) {
    await takeOver();
    return true;
  }
  const { appended } = journal;
  const { epoch } = memory;
  const ended = journal.rotate();
  const entries = memory.beginFold();
  await takeOver();
  for await (const some of inOrder(entries)) {
    await stores.write((durable) => {
      stores.durableCapacity.claim();
      for (const entry of some) putEntry(durable, entry, memory.foldedTo);
    });
    if (memory.epoch !== epoch) return false;
    await later(PAUSE_MS);
  }
  await memory.folded(appended, dayOf(Date.now()), () => later(PAUSE_MS));
  journal.remove(ended);
  return true;
}

/** Writes the row of a subject, and its counts that changed after the record `after`. In a transaction. */
export function putEntry(durable: Store, { kind, id, state, slots }: Entry, after: number): void {
  durable.putSync(kind + id, packState(state));
  for (const { label, counts, changedBy } of slots)
    if (changedBy > after) durable.putSync(usageRow(id, label.text), packCounts(counts));
}

/** Yields batches of entries in the order of their rows; sorting all in one turn would block the event loop. */
async function* inOrder(entries: ReadonlySet<Entry>): AsyncGenerator<readonly Entry[]> {
  const groups = { a: [] as Entry[][], s: [] as Entry[][] };
  let count = 0;
  for (const entry of entries) {
    (groups[entry.kind][entry.id.charCodeAt(0)] ??= []).push(entry);
    if (++count % ORDERED_AT_ONCE === 0) await later(PAUSE_MS);
  }
  for (const group of [...Object.values(groups.a), ...Object.values(groups.s)]) {
    group.sort((a, b) => (a.id < b.id ? -1 : 1));
    for (let at = 0; at < group.length; at += FOLDED_AT_ONCE) yield group.slice(at, at + FOLDED_AT_ONCE);
  }
}
