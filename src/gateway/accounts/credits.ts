import { z } from 'zod';
import { MAX_BALANCE } from '../admission/bucket.js';
import type { Plan } from '../admission/plan.js';
import { creditsIn, type Credit } from '../store/records/credit.js';
import type { AuditEntry } from '../store/records/record.js';
import type { Account, Change } from './edits.js';
import { note, orMissing, required, type Body } from './fields.js';
import { KeyRefused } from './refused.js';

/** Maximum per key or customer: they are in its history. */
const MAX_CREDITS = 10_000;

const ID = 'must be 1 to 64 letters, digits and -._:, such as the number of an invoice';
const UNITS = `must be a whole number from -${MAX_BALANCE} to ${MAX_BALANCE}, other than 0; a negative one takes back`;

/** The body that adds to a prepaid balance. */
export const newCredit = () => ({
  id: z
    .string({ error: orMissing(ID) })
    .regex(/^[0-9A-Za-z._:-]{1,64}$/, ID)
    .describe('Counts once, however often it is sent, such as the number of an invoice'),
  units: z
    .int({ error: orMissing(UNITS) })
    .min(-MAX_BALANCE, UNITS)
    .max(MAX_BALANCE, UNITS)
    .refine((units) => units !== 0, UNITS)
    .describe('Added to the balance; a negative number takes back what is not spent'),
  note: note.optional(),
});

/** A credit that is stored, with the sum of all. */
export interface Credited {
  readonly credit: Credit;
  /** False for a repeated one, which changed nothing. */
  readonly isNew: boolean;
}

/**
 * Returns the credit and its change; null if it exists already. Throws KeyRefused. The store refuses a negative one
 * that would take back units that are spent (`Overdrawn`).
 * @param plan undefined if it is gone
 */
export function credited<R extends Account>(
  record: R,
  history: readonly AuditEntry[],
  body: Body,
  plan: Plan | undefined,
  nowMs: number,
  actor: string,
): Credited & { readonly change: Change<R> | null } {
  const { id, units, note = '' } = required(body, newCredit());
  const made = creditsIn(history);
  const before = made.find((one) => one.id === id);
  if (before !== undefined) return { credit: repeated(before, units, note), isNew: false, change: null };
  if (plan?.isPrepaid !== true)
    throw new KeyRefused('conflict', [
      `plan "${record.plan}" is not prepaid, so credits would not count: change the plan first`,
    ]);
  if (made.length >= MAX_CREDITS)
    throw new KeyRefused('conflict', [`it has ${MAX_CREDITS} credits, the most there can be`]);
  const sum = (record.credited ?? 0) + units;
  if (sum > MAX_BALANCE)
    throw new KeyRefused('invalid', [`units: the credits would be ${sum} in all, and ${MAX_BALANCE} is the most`]);
  if (sum < 0) throw new KeyRefused('conflict', [overdrawn(units)]);
  const credit = { id, units, note, actor, atMs: nowMs, sum };
  const changed = { credit: id, units, sum, ...(note !== '' && { note }) };
  return { credit, isNew: true, change: { next: { ...record, credited: sum }, action: 'credited', changed } };
}

/** What to tell someone who takes back more than is left. */
export function overdrawn(units: number): string {
  return `units: fewer than ${-units} are left of the balance; take back less, or nothing`;
}

/** Returns the credit with this ID. Erasing removes its note. */
function repeated(before: Credit, units: number, note: string): Credit {
  if (before.units === units && (before.note === null || before.note === note)) return before;
  const said = JSON.stringify(before.note ?? '');
  throw new KeyRefused('credit_exists', [
    `there is a credit ${before.id} already, of ${before.units} units, ${said}; this one says: ${units} units, ` +
      `${JSON.stringify(note)}; use another id`,
  ]);
}
