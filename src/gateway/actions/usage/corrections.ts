import { isoOrNull } from '../../accounts/edits.js';
import { subjectIn } from '../../accounts/corrections.js';
import { isKeyId } from '../../accounts/token.js';
import { customerOf } from '../../store/records/customer-id.js';
import { correctionsOf, type CorrectionOf, type CorrectionsAsked } from '../../store/records/correction.js';
import { dayIn, type Json } from '../command.js';
import { cell } from '../../../shared/text/readable.js';
import { plansCounted } from './plans-counted.js';
import type { Answer } from '../answer.js';
import { checkOrder, days, storeCursor, storePaging, textCursor, whose, whoseOf } from '../input/query.js';
import { Correction, CorrectionPage, NewCorrection } from '../schemas.js';
import { action, type AdminParts, type Action } from '../action.js';

const CORRECTIONS = '/admin/v1/usage/corrections';

export const CORRECTION_ACTIONS: readonly Action[] = [
  action(`GET ${CORRECTIONS}`, 'billing', 'List corrections of usage, of all days or of some', {
    commands: {
      usage: 'usage corrections',
      example: '--from 2026-11-01 --to 2026-11-30',
      prints: {
        list: 'corrections',
        columns: ['id', 'customer', 'key', 'day', 'plan', 'requests', 'units', 'reason', 'by', dayIn('at')],
        none: 'No corrections.',
      },
    },
    query: { ...days, ...whose, ...storePaging((cursor) => CURSOR.test(cursor)) },
    gives: CorrectionPage,
    handle: async ({ parts, query: { limit, cursor, ...query } }) => {
      checkOrder(query);
      const asked = { ...query, ...(await whoseOf(parts, query)) };
      return list(parts, asked, limit, storeCursor(cursor));
    },
  }),
  action(`POST ${CORRECTIONS}`, 'billing', 'Add to the usage of a day, or subtract from it; what was counted stays', {
    commands: {
      usage: 'usage correct',
      example: '--customer C-1042 --day 2026-11-03 --units -250 --reason "outage of 3 November"',
      prints: { text: correctedText },
    },
    forms: (['key', 'customer'] as const).map((subject) => ({
      on: `/${subject}s/{id}`,
      name: 'corrected',
      button: 'Correct',
      opens: 'Correct usage',
      isApart: true,
      fields: ['day', 'units', 'requests', 'plan', 'reason'],
      subject,
      done: 'Corrected: reports have it from now on.',
    })),
    takes: NewCorrection,
    status: 201,
    gives: Correction,
    handle: async ({ parts, body, actor }) => {
      const { registry } = parts;
      const { key, customer = '' } = subjectIn(body, await registry.nowMs());
      const accounts = key === undefined ? registry.customers : registry;
      const { id: subject } = await (key === undefined ? registry.customers.find(customer) : registry.get(key));
      return {
        json: correctionView({
          ...(await accounts.correct(subject, body, actor, (payer, day) => plansCounted(parts, payer, day))),
          subject,
        }),
      };
    },
  }),
];

function correctedText({ id, key, customer, day, plan, units, requests }: Json): string {
  const whose = key === null ? `customer ${cell(customer)}` : `key ${cell(key)}`;
  return (
    `Correction ${cell(id)} of ${whose} on ${cell(day)}, plan ${cell(plan)}: ` +
    `${signed(units)} units, ${signed(requests)} requests.`
  );
}

function signed(count: unknown): string {
  return Number(count) > 0 ? `+${String(count)}` : String(count);
}

/** `c` of a customer or `k` of a key, and its id. */
const CURSOR = /^([ck])([0-9A-Za-z]{8,14})$/;

/** Returns a page. It has all corrections of its last key or customer, so it may exceed `limit`. */
async function list(
  { engine }: AdminParts,
  asked: CorrectionsAsked,
  limit: number,
  cursor: string | null,
): Promise<Answer> {
  const found: CorrectionOf[] = [];
  const [, from = 'c', id = null] = CURSOR.exec(cursor ?? '') ?? [];
  for (const kind of from === 'c' ? (['c', 'k'] as const) : (['k'] as const)) {
    const store = kind === 'c' ? engine.customers : engine.keys;
    for await (const some of correctionsOf(store, asked, kind === from ? id : null)) {
      found.push(...some);
      if (found.length >= limit) return pageOf(found, textCursor(kind + found.at(-1)!.subject));
    }
  }
  return pageOf(found, null);
}

function pageOf(found: readonly CorrectionOf[], cursor: string | null): Answer {
  return { json: { corrections: found.map(correctionView), cursor } };
}

function correctionView({ subject, id, day, plan, requests, units, reason, actor, atMs }: CorrectionOf): object {
  const key = isKeyId(subject) ? subject : null;
  const customer = key === null ? subject : customerOf(key);
  return { id, key, customer, day, plan, requests, units, reason, by: actor, at: isoOrNull(atMs) };
}
