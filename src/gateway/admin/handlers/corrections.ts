import { subjectIn } from '../../accounts/corrections.js';
import { isKeyId } from '../../accounts/token.js';
import { customerOf } from '../../store/records/customer-id.js';
import type { CorrectionOf } from '../../store/records/correction.js';
import { correctionsOf, type CorrectionsAsked } from '../../store/records/corrections.js';
import { plansCounted } from '../plans-counted.js';
import type { Answer } from '../answer.js';
import { checkOrder, days, paging, textCursor, textOf, whose } from '../input/query.js';
import { whoseOf } from '../input/whose.js';
import { Correction, CorrectionPage, NewCorrection } from '../openapi/schemas.js';
import { route, type AdminParts, type Route } from '../route.js';

const CORRECTIONS = '/admin/v1/usage/corrections';

export const CORRECTION_ROUTES: readonly Route[] = [
  route(`GET ${CORRECTIONS}`, 'billing', 'Corrections of usage: of customers, then of keys, by id', {
    query: { ...days, ...whose, ...paging((cursor) => CURSOR.test(textOf(cursor))) },
    gives: CorrectionPage,
    handle: async ({ parts, query: { limit, cursor, ...query } }) => {
      checkOrder(query);
      const asked = { ...query, ...(await whoseOf(parts, query)) };
      return list(parts, asked, limit, cursor === null ? null : textOf(cursor));
    },
  }),
  route(`POST ${CORRECTIONS}`, 'billing', 'Corrects the usage of a day; what was counted stays', {
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

/** `c` of a customer or `k` of a key, and its id. */
const CURSOR = /^([ck])([0-9A-Za-z]{8,14})$/;

/** A page has all corrections of its last key or customer, and so may be longer than `limit`. */
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
  return { id, key, customer, day, plan, requests, units, reason, by: actor, at: new Date(atMs).toISOString() };
}
