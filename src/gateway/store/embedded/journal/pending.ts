import type { Crossing } from '../../records/facts.js';
import type { GatewayEvent } from '../../outbox/event.js';
import { pendingRow, rangeOf } from '../files/rows.js';
import type { Store } from '../files/database.js';

/**
 * Pending events. An admission's events move from its journal record to the file once that record is on the disk, so
 * that events lost in a power cut are never sent. From there they move to the outbox in order, a few at a time
 * (outbox/outbox.ts), so that a burst does not block the event loop.
 */
const EVENTS_A_ROW = 32;

/** An event, or the ID of one that is withdrawn. */
export type PendingEvent = GatewayEvent | string;

/** Appends events to those that are pending. In a transaction. */
export function appendPending(durable: Store, events: readonly PendingEvent[]): void {
  if (events.length === 0) return;
  const number = nextNumber(durable);
  for (let from = 0; from < events.length; from += EVENTS_A_ROW)
    durable.putSync(pendingRow(number, from), Buffer.from(JSON.stringify(events.slice(from, from + EVENTS_A_ROW))));
}

function nextNumber(durable: Store): number {
  const { start, end } = rangeOf('E');
  const [last] = durable.getKeys({ start: end, end: start, reverse: true, limit: 1 });
  return last === undefined ? 1 : Number(last.slice(1, 17)) + 1;
}

/** Removes and returns some pending events; undefined if there are none. In a transaction. */
export function nextPending(durable: Store): readonly PendingEvent[] | undefined {
  const [row] = durable.getKeys({ ...rangeOf('E'), limit: 1 });
  if (row === undefined) return undefined;
  const events = JSON.parse(durable.getBinary(row)!.toString()) as readonly PendingEvent[];
  durable.removeSync(row);
  return events;
}

export function isAnyPending(durable: Store): boolean {
  return [...durable.getKeys({ ...rangeOf('E'), limit: 1 })].length > 0;
}

/** A crossing that was emitted, as stored in the row of its subject. */
type Mark = readonly [window: Crossing['window'], startDay: number, threshold: number, limit: number];

/**
 * Returns the row of a subject's emitted crossings with this one added; null if the row has it. With greedy refill, a
 * day crosses the same share repeatedly, and so may any window when the clock steps back.
 */
export function marked(row: Buffer | undefined, { window, startDay, threshold, limit }: Crossing): Buffer | null {
  const marks = row === undefined ? [] : (JSON.parse(row.toString()) as readonly Mark[]);
  const isThis = ([its, start, share, of]: Mark): boolean =>
    its === window && start === startDay && share === threshold && of === limit;
  if (marks.some(isThis)) return null;
  // Drops the marks of windows that are over.
  const kept = marks.filter(([its, start]) => its !== window || start >= startDay);
  return Buffer.from(JSON.stringify([...kept, [window, startDay, threshold, limit]]));
}

/** Returns whether all crossings in the row are of windows that began before `day`. */
export function areMarksOver(row: Buffer, day: number): boolean {
  return (JSON.parse(row.toString()) as readonly Mark[]).every(([, startDay]) => startDay < day);
}
