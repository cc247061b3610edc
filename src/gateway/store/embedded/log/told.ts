import type { Crossing } from '../../outbox/facts.js';
import type { GatewayEvent } from '../../outbox/event.js';
import { marksRow, rangeOf, toldRow } from '../files/rows.js';
import type { Store } from '../files/store.js';

/**
 * Events that admissions write. They stand in `recent`, written by the transaction that they are about, until the
 * checkpoint takes them to `durable` in the same step in which it copies that transaction's row of the log: so
 * what is lost of the log by a power cut is never told of, and what isn't is told of once. From there they get their
 * entries in the outbox, a few at a time (keys/outbox.ts): a burst must not hold up the event loop.
 */
const FORGOTTEN_AT_ONCE = 250;
const EVENTS_A_ROW = 32;

/** In the transaction on `recent` with this id: some events that it caused. */
export function writeTold(recent: Store, transaction: number, events: readonly GatewayEvent[]): void {
  for (let from = 0; from < events.length; from += EVENTS_A_ROW)
    recent.putSync(toldRow(transaction, from), Buffer.from(JSON.stringify(events.slice(from, from + EVENTS_A_ROW))));
}

/** In a transaction on `durable`: takes there what transactions after `after` wrote. */
export function takeTold(recent: Store, durable: Store, after: number): void {
  const { end } = rangeOf('E');
  let number = firstTold(durable, true)?.number ?? 0;
  for (const { value } of recent.getRange({ start: toldRow(after + 1, 0), end }))
    durable.putSync(toldRow((number += 1), 0), value);
}

/** Events that wait in `durable` for their entries, the oldest of them, or the newest, and their row. */
function firstTold(durable: Store, reverse = false): { number: number; row: string } | undefined {
  const { start, end } = rangeOf('E');
  const [row] = durable.getKeys(reverse ? { start: end, end: start, reverse, limit: 1 } : { start, end, limit: 1 });
  return row === undefined ? undefined : { number: Number(row.slice(1, 17)), row };
}

/** In a transaction on `durable`: takes out some of those events; undefined when there are none. */
export function nextTold(durable: Store): readonly GatewayEvent[] | undefined {
  const first = firstTold(durable);
  if (first === undefined) return undefined;
  const events = JSON.parse(durable.getBinary(first.row)!.toString()) as GatewayEvent | readonly GatewayEvent[];
  durable.removeSync(first.row);
  // A row of the version before has one.
  return [events].flat();
}

export function isAnyTold(store: Store): boolean {
  store.resetReadTxn();
  return firstTold(store) !== undefined;
}

/** What transactions up to `upTo` wrote is in `durable`, on disk. True when nothing of it is left. */
export function forgetTold(recent: Store, upTo: number): boolean {
  if (!isAnyTold(recent)) return true;
  return recent.transactionSync(() => {
    const names = [...recent.getKeys({ start: 'E', end: toldRow(upTo + 1, 0), limit: FORGOTTEN_AT_ONCE })];
    for (const name of names) recent.removeSync(name);
    return names.length < FORGOTTEN_AT_ONCE;
  });
}

/** A crossing that was told, as the row of its subject has it. */
type Mark = readonly [window: Crossing['window'], startDay: number, threshold: number, limit: number];

/**
 * In a transaction on `recent`: true, and remembered, when the subject was not told of this crossing yet. A day that
 * trickles crosses the same share again and again, and so may one whose clock steps back.
 */
export function mark(recent: Store, subjectId: string, { window, startDay, threshold, limit }: Crossing): boolean {
  const row = marksRow(subjectId);
  const bytes = recent.getBinary(row);
  const marks = bytes === undefined ? [] : (JSON.parse(bytes.toString()) as readonly Mark[]);
  const isThis = ([its, start, share, of]: Mark): boolean =>
    its === window && start === startDay && share === threshold && of === limit;
  if (marks.some(isThis)) return false;
  // Of windows that are over nothing is told any more.
  const kept = marks.filter(([its, start]) => its !== window || start >= startDay);
  recent.putSync(row, Buffer.from(JSON.stringify([...kept, [window, startDay, threshold, limit]])));
  return true;
}

/** Whether all that was told is of windows that began before `day`. */
export function areMarksOver(row: Buffer, day: number): boolean {
  return (JSON.parse(row.toString()) as readonly Mark[]).every(([, startDay]) => startDay < day);
}
