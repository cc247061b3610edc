import type { Crossing } from '../../../events/facts.js';
import type { GatewayEvent } from '../../../events/outbox.js';
import { enterOnce } from '../keys/outbox.js';
import { AFTER_ALL, marksRow, rangeOf, SEPARATOR, tellingOf, toldRow } from '../files/rows.js';
import type { Store } from '../files/store.js';

/**
 * Events that admissions write. They stand in `recent`, written by the transaction that they are about, until the
 * checkpoint enters them into the outbox in the same step in which it copies that transaction's row of the log: so
 * what is lost of the log by a power cut is never told of, and what isn't is told of once.
 */
const FORGOTTEN_AT_ONCE = 250;

/** In the transaction on `recent` with this id: some events that it caused. */
export function writeTold(recent: Store, transaction: number, events: readonly GatewayEvent[]): void {
  for (const [place, event] of events.entries())
    recent.putSync(toldRow(transaction, place), Buffer.from(JSON.stringify(event)));
}

/** In a transaction on `durable`: enters what transactions after `after` wrote into the outbox. */
export function enterTold(recent: Store, durable: Store, after: number): void {
  const { start, end } = rangeOf('E');
  for (const { key, value } of recent.getRange({ start, end }))
    if (tellingOf(key) > after) enterOnce(durable, JSON.parse(value.toString()) as GatewayEvent);
}

export function isAnyTold(recent: Store): boolean {
  recent.resetReadTxn();
  const { start, end } = rangeOf('E');
  return [...recent.getKeys({ start, end, limit: 1 })].length > 0;
}

/** What transactions up to `upTo` wrote is in the outbox, on disk. */
export function forgetTold(recent: Store, upTo: number): void {
  if (!isAnyTold(recent)) return;
  recent.transactionSync(() => {
    const end = `E${String(upTo).padStart(16, '0')}${SEPARATOR}${AFTER_ALL}`;
    for (const name of [...recent.getKeys({ start: 'E', end, limit: FORGOTTEN_AT_ONCE })]) recent.removeSync(name);
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
