import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { asHistoryShows, correctionsIn, type Correction, type CorrectionOf } from '../store/records/correction.js';
import type { AuditEntry, StoredRecord } from '../store/records/record.js';
import { randomBase62 } from '../../shared/base62.js';
import { isDay } from '../../shared/utc-day.js';
import type { Change } from './edits.js';
import { orMissing, quote, readFields, text, VISIBLE, type Body } from './fields.js';
import { KeyRefused } from './refused.js';
import { isCustomerId } from './token.js';

/** Maximum per key or customer: they are in its history, which every report reads. */
const MAX_CORRECTIONS = 1_000;
const MAX_FIGURE = 1_000_000_000_000;
const ID_LENGTH = 12;

const FIGURE = `must be a whole number from -${MAX_FIGURE} to ${MAX_FIGURE}; a negative one subtracts`;
const figure = z.int({ error: FIGURE }).min(-MAX_FIGURE, FIGURE).max(MAX_FIGURE, FIGURE).optional();
const REASON = 'must be a text of 1 to 500 characters';
const ID = 'must be 1 to 64 letters, digits and -._:';
const PLAN = 'must be the name of a plan';

/** The body that corrects a day. @param today the last valid day */
export const newCorrection = (today: string) => ({
  key: z.string().optional().describe('The key whose usage is corrected'),
  customer: z.string().optional().describe('Or the customer: its id or its reference'),
  day: z
    .string({ error: orMissing('must be a calendar day such as 2026-11-21') })
    .refine((day) => isDay(day), 'must be a calendar day such as 2026-11-21')
    .refine((day) => day <= today, 'must not lie in the future')
    .meta({ format: 'date', description: 'The UTC day, which may be final, or in the archive' }),
  requests: figure.describe('Added to the requests of the day; subtracted if negative'),
  units: figure.describe('The same for units, which amounts are computed from'),
  reason: text(500, REASON).regex(VISIBLE, REASON).describe('Why, for anyone who reads the report'),
  id: z
    .string(ID)
    .regex(/^[0-9A-Za-z._:-]{1,64}$/, ID)
    .optional()
    .describe('Applied once, however often it is sent, for a key and its customer together; random if omitted'),
  plan: z
    .string(PLAN)
    .regex(/^[a-z][a-z0-9_-]{0,31}$/, PLAN)
    .optional()
    .describe('The plan to bill it on. Default: the plan at the end of that day'),
});

/** The subject of a correction, and what it is checked against. */
interface CorrectedRecord<R> {
  readonly record: R;
  readonly history: readonly AuditEntry[];
  /** Corrections of its customer, or of the customer's keys: they must not have the same ID. */
  readonly related: readonly CorrectionOf[];
  /** The payer's plan at the end of a day; null if it had none. */
  readonly planOn: (day: string) => string | null;
  /** Whether the payer may owe something on this plan in the month of the day. */
  readonly isPlanKnown: (plan: string, day: string) => Promise<boolean>;
}

/** Returns the correction and its change; null if it exists already. Rejects with KeyRefused. */
export async function corrected<R extends StoredRecord>(
  { record, history, related, planOn, isPlanKnown }: CorrectedRecord<R>,
  body: Body,
  nowMs: number,
  actor: string,
): Promise<{ readonly correction: Correction; readonly change: Change<R> | null }> {
  const asked = readCorrection(body, nowMs);
  const made = correctionsIn(history).map((one): CorrectionOf => ({ ...one, subject: record.id }));
  const { id = randomBase62(ID_LENGTH), day, requests, units, reason } = asked;
  const plan = asked.plan ?? planOn(day);
  const before = [...made, ...related].find((one) => one.id === id);
  if (before !== undefined) {
    const again = { ...before, day, requests, units, plan: asked.plan ?? before.plan, subject: record.id };
    // Erasing removes the reason.
    const said = { ...again, reason: before.reason === '' ? '' : reason };
    if (isDeepStrictEqual(said, before)) return { correction: before, change: null };
    throw new KeyRefused('correction_exists', [
      `there is a correction ${id} already: ${wordsOf(before)}; this one says: ${wordsOf({ ...again, reason })}; ` +
        'use another id',
    ]);
  }
  if (made.length >= MAX_CORRECTIONS)
    throw new KeyRefused('conflict', [`it has ${MAX_CORRECTIONS} corrections, the most there can be`]);
  if (plan === null)
    throw new KeyRefused('invalid', [`plan: there was none at the end of ${quote(day)}; name the plan to bill it on`]);
  if (asked.plan !== undefined && !(await isPlanKnown(plan, day)))
    throw new KeyRefused('invalid', [
      `plan: ${quote(plan)} is not in force, and neither the payer's history nor its ledger of ${day.slice(0, 7)} ` +
        'has it, so it would have no price. See petgate plans list',
    ]);
  const correction = { id, day, plan, requests, units, reason, actor, atMs: nowMs };
  return { correction, change: { next: record, action: 'corrected', changed: asHistoryShows(correction) } };
}

function wordsOf({ subject, day, plan, requests, units, reason }: CorrectionOf): string {
  const whose = isCustomerId(subject) ? 'customer' : 'key';
  const figures = `${units} units and ${requests} requests`;
  return `${figures} of ${whose} ${subject} on ${day}, plan ${plan}, ${JSON.stringify(reason)}`;
}

/** Returns whose usage a body corrects. Throws KeyRefused. */
export function subjectIn(body: Body, nowMs: number): { readonly key?: string; readonly customer?: string } {
  const { key, customer } = readCorrection(body, nowMs);
  if (key !== undefined && customer === undefined) return { key };
  if (key === undefined && customer !== undefined) return { customer };
  throw new KeyRefused('invalid', ['give either key or customer: the one whose usage is corrected']);
}

function readCorrection(body: Body, nowMs: number) {
  const problems: string[] = [];
  const fields = readFields(body, newCorrection(new Date(nowMs).toISOString().slice(0, 10)), problems);
  const { day = '', reason = '', requests = 0, units = 0 } = fields;
  if (problems.length === 0 && requests === 0 && units === 0)
    problems.push('requests or units must be given, and other than 0');
  if (problems.length > 0) throw new KeyRefused('invalid', problems);
  return { ...fields, day, reason, requests, units };
}
