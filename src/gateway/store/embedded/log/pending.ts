import type { Crossing } from '../../outbox/facts.js';
import type { GatewayEvent } from '../../outbox/event.js';
import { bansRow, marksRow, rangeOf, pendingRow } from '../files/rows.js';
import type { Store } from '../files/store.js';

/**
 * Pending events. They stand where the step that causes them writes: an admission's in `recent`, until the checkpoint
 * takes them to `durable` in the same step in which it copies that transaction's row of the log (so what is lost of the
 * log by a power cut is never sent, and what isn't is sent once); those of a change of a key in `durable`. From there
 * they come into the outbox in this order, a few at a time (outbox/store.ts): a burst must not hold up the event loop.
 */
const FORGOTTEN_AT_ONCE = 250;
const EVENTS_A_ROW = 32;

/** An event, or the id of one that will not happen after all. */
type Pending = GatewayEvent | string;

/** In the transaction on `recent` with this id: some events that it caused. */
export function writePending(recent: Store, transaction: number, events: readonly Pending[]): void {
  for (let from = 0; from < events.length; from += EVENTS_A_ROW)
    recent.putSync(pendingRow(transaction, from), Buffer.from(JSON.stringify(events.slice(from, from + EVENTS_A_ROW))));
}

/** In a transaction on `durable`: some that it caused itself. */
export function appendPending(durable: Store, events: readonly Pending[]): void {
  if (events.length > 0) writePending(durable, nextNumber(durable), events);
}

/** In a transaction on `durable`: takes there what transactions after `after` wrote, up to `upTo`. */
export function takePending(recent: Store, durable: Store, after: number, upTo: number): void {
  let number = nextNumber(durable);
  for (const { value } of recent.getRange({ start: pendingRow(after + 1, 0), end: pendingRow(upTo + 1, 0) }))
    durable.putSync(pendingRow(number++, 0), value);
}

function nextNumber(durable: Store): number {
  const { start, end } = rangeOf('E');
  const [last] = durable.getKeys({ start: end, end: start, reverse: true, limit: 1 });
  return last === undefined ? 1 : Number(last.slice(1, 17)) + 1;
}

function firstOf(store: Store, kind: 'E' | 'B'): string | undefined {
  const [row] = store.getKeys({ ...rangeOf(kind), limit: 1 });
  return row;
}

/** In a transaction on `durable`: takes out some of them; undefined when there are none. */
export function nextPending(durable: Store): readonly Pending[] | undefined {
  const row = firstOf(durable, 'E');
  if (row === undefined) return undefined;
  const events = JSON.parse(durable.getBinary(row)!.toString()) as readonly Pending[];
  durable.removeSync(row);
  return events;
}

/** Whether there is any pending event, or an automatic ban that its key's history lacks. */
export function isAnyPending(store: Store): boolean {
  store.resetReadTxn();
  return firstOf(store, 'E') !== undefined || firstOf(store, 'B') !== undefined;
}

/** What transactions up to `upTo` wrote is in `durable`, on disk. True when nothing of it is left. */
export function forgetPending(recent: Store, upTo: number): boolean {
  if (!isAnyPending(recent)) return true;
  return recent.transactionSync(() => {
    const limit = FORGOTTEN_AT_ONCE;
    const events = [...recent.getKeys({ start: 'E', end: pendingRow(upTo + 1, 0), limit })];
    const names = [...events, ...recent.getKeys({ start: 'B', end: bansRow(upTo + 1), limit: limit - events.length })];
    for (const name of names) recent.removeSync(name);
    return names.length < FORGOTTEN_AT_ONCE;
  });
}

/** A crossing that was written, as the row of its subject has it. */
type Mark = readonly [window: Crossing['window'], startDay: number, threshold: number, limit: number];

/**
 * In a transaction on `recent`: true, and remembered, when this crossing of the subject was not written yet. A day that
 * trickles crosses the same share again and again, and so may one whose clock steps back.
 */
export function mark(recent: Store, subjectId: string, { window, startDay, threshold, limit }: Crossing): boolean {
  const row = marksRow(subjectId);
  const bytes = recent.getBinary(row);
  const marks = bytes === undefined ? [] : (JSON.parse(bytes.toString()) as readonly Mark[]);
  const isThis = ([its, start, share, of]: Mark): boolean =>
    its === window && start === startDay && share === threshold && of === limit;
  if (marks.some(isThis)) return false;
  // Of windows that are over nothing is written any more.
  const kept = marks.filter(([its, start]) => its !== window || start >= startDay);
  recent.putSync(row, Buffer.from(JSON.stringify([...kept, [window, startDay, threshold, limit]])));
  return true;
}

/** Whether all of them are of windows that began before `day`. */
export function areMarksOver(row: Buffer, day: number): boolean {
  return (JSON.parse(row.toString()) as readonly Mark[]).every(([, startDay]) => startDay < day);
}
