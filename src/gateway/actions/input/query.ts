import { z } from 'zod';
import { checked, quote, readFields, reference, type Checked, type Shape } from '../../accounts/fields.js';
import type { Page } from '../../accounts/listing.js';
import type { Account } from '../../accounts/edits.js';
import type { RecordRegistry } from '../../accounts/record-registry.js';
import { isCustomerId } from '../../accounts/token.js';
import { OUTBOX_STATES } from '../../store/outbox/event.js';
import { DIMENSIONS, type Dimension, type ReportRange } from '../../usage/grouping/range.js';
import { isDay } from '../../../shared/utc-day.js';
import { suggestion } from '../../../shared/names/nearest.js';
import type { AdminParts } from '../action.js';
import { AdminRefusal } from '../answer.js';

const PAGE_DEFAULT = 100;
const PAGE_MAX = 1_000;

/** Parses a query. Unknown or repeated parameters are refused with AdminRefusal 400. */
export function readQuery<Query extends Shape>(search: URLSearchParams, known: Query): Checked<Query> {
  const problems: string[] = [];
  const given = Object.fromEntries(search);
  for (const name of Object.keys(given))
    if (search.getAll(name).length > 1) problems.push(`the query parameter ${quote(name)} comes twice`);
  const values = readFields(given, known, problems, 'query parameter');
  if (problems.length > 0) throw invalidQuery(`${problems.join('; ')}.`);
  return values as Checked<Query>;
}

export function invalidQuery(message: string): AdminRefusal {
  return new AdminRefusal(400, 'invalid_query', message);
}

/** Encodes a cursor of the store for a query, and decodes it. */
export function textCursor(cursor: string | null): string | null {
  return cursor === null ? null : Buffer.from(cursor).toString('base64url');
}

export function storeCursor(cursor: string | null): string | null {
  return cursor === null ? null : Buffer.from(cursor, 'base64url').toString();
}

const limit = z
  .string()
  .default(String(PAGE_DEFAULT))
  .refine((text) => /^[0-9]{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= PAGE_MAX, {
    error: `must be a whole number from 1 to ${PAGE_MAX}`,
  })
  .transform(Number)
  .meta({ description: 'How many at most', type: 'integer', minimum: 1, maximum: PAGE_MAX, default: PAGE_DEFAULT });
const searched = z.string().max(200, 'must have at most 200 characters');

const paging = (isCursor: (text: string) => boolean) => ({
  limit,
  cursor: z
    .string()
    .refine(isCursor, 'must be the one that came with the page before')
    .nullable()
    .default(null)
    .meta({ description: 'From the page before', type: 'string' }),
});

/** Paging by a cursor of the store (store/port.ts). */
export const storePaging = (isCursor: (cursor: string) => boolean) =>
  paging((text) => isCursor(storeCursor(text) ?? ''));

/** Paging of bans of keys and addresses. */
export const banPaging = storePaging((cursor) => /^(?:\d{1,16} )?[0-9A-Za-z.:~]{1,45}$/.test(cursor));

/** Paging of keys and customers by ID or age. A cursor is valid only for its order. */
export const listing = (isId: (text: string) => boolean) => ({
  search: searched
    .optional()
    .describe('Only those with this in their name, ID or reference, in any case; the newest first'),
  order: z.enum(['id', 'newest'], 'must be one of id, newest').default('id').describe('With a search always newest'),
  ...paging((text) => isId(text) || (/^\d{1,16}\./.test(text) && isId(text.slice(text.indexOf('.') + 1)))),
});

export const inAudit = {
  search: searched.default('').describe('Only changes with each of these words in actor, action, kind or ID'),
  limit,
};

/** Reads a page in the requested order. Throws AdminRefusal for a cursor of the other order. */
export function listed<R extends Account, Filter extends object>(
  registry: Pick<RecordRegistry<R, Filter>, 'list' | 'newest'>,
  { limit, cursor, search, order, ...filter }: Checked<ReturnType<typeof listing>> & Filter,
): Promise<Page<R>> {
  const isNewest = search !== undefined || order === 'newest';
  if (cursor !== null && cursor.includes('.') !== isNewest)
    throw invalidQuery('cursor must be the one that came with the page before, in the same order.');
  const asked = filter as unknown as Filter;
  return isNewest ? registry.newest(asked, search ?? '', cursor, limit) : registry.list(asked, cursor, limit);
}

const choice = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, `must be one of ${values.join(', ')}`);

export const ofKeys = {
  plan: z.string().optional().describe('Only keys on this plan'),
  status: choice(['enabled', 'disabled', 'revoked']).optional().describe('Only keys of this status'),
  name: z.string().optional().describe('Only keys whose name starts with this'),
};
const PERCENT = 'must be a whole number from 1 to 100';
export const nearLimit = {
  used: z
    .string()
    .regex(/^(?:[1-9]\d?|100)$/, PERCENT)
    .transform(Number)
    .optional()
    .meta({ description: 'Only keys that have used this share of a window, in percent', type: 'integer' }),
};
export const ofKey = { key: z.string('give the id of a key').describe('The id of the key') };
export const ofCustomer = {
  customer: z.string().refine(isCustomerId, "must be a customer's id").optional().describe('Only of this customer'),
};
// Customers without a reference store an empty one, so searching for it is a mistake.
const wholeReference = reference.min(1, 'must not be empty').optional();
export const ofCustomers = {
  plan: z.string().optional().describe('Only customers on this plan'),
  reference: wholeReference.describe('Only customers of this very reference'),
};
const flag = choice(['true', 'false']).optional();
export const withCheck = { check: flag.describe('Writes nothing, and returns what would change') };
export const inState = { state: choice(OUTBOX_STATES).default('waiting').describe('Which events') };

const day = z.string().refine(isDay, 'must be a calendar day such as 2026-11-21').meta({ format: 'date' }).optional();
export const days = { from: day.describe('First UTC day'), to: day.describe('Last UTC day') };

export const ofMonth = {
  month: z
    .string('give a month such as 2026-11')
    .refine((text) => isDay(`${text}-01`), 'must be a month such as 2026-11')
    .describe('The UTC month'),
};

export const inFormat = { format: choice(['json', 'csv']).default('json').describe('How the report is written') };
export const whose = {
  key: z.string().optional().describe('Only the usage of this key'),
  customer: wholeReference.describe('Only of this customer: its id or its reference'),
};
export const ofReport = {
  from: day.describe('First UTC day; the first of the month when left out'),
  to: day.describe('Last UTC day; today when left out'),
  by: checked(z.string(), dimensionProblem)
    .default('plan')
    .transform((by) => by.split(',') as readonly Dimension[])
    .meta({ description: `One or more of ${DIMENSIONS.join(', ')}`, type: 'string', default: 'plan' }),
  ...whose,
  names: flag.describe('false: without the names of keys and customers'),
  corrections: flag.describe('false: without corrections'),
  days: flag.describe('true: JSON also has `days`, the counts by day and plan'),
  amounts: flag.describe(
    'What is owed, in whole months by customer: where plans have prices, unless false; true refuses what has none',
  ),
};

function dimensionProblem(by: string): string | null {
  const names = by.split(',');
  const stranger = names.find((name) => !DIMENSIONS.some((one) => one === name));
  if (stranger !== undefined) return `there is no ${quote(stranger)}; ${suggestion(stranger.slice(0, 64), DIMENSIONS)}`;
  return new Set(names).size < names.length ? 'names something twice' : null;
}

/** Throws AdminRefusal. */
export function checkOrder({ from, to }: { readonly from?: string; readonly to?: string }): void {
  if (from !== undefined && to !== undefined && from > to) throw invalidQuery('from must not lie after to.');
}

/** Returns the requested key or customer. An unknown one is a mistake and is refused, not reported without traffic. */
export async function whoseOf(
  { registry }: AdminParts,
  { key, customer }: Checked<typeof whose>,
): Promise<Pick<ReportRange, 'key'> | Pick<ReportRange, 'customer'>> {
  if (key !== undefined && customer !== undefined) throw invalidQuery('Give either key or customer.');
  if (key !== undefined) return { key: (await registry.get(key)).id };
  return customer === undefined ? {} : { customer: (await registry.customers.find(customer)).id };
}
