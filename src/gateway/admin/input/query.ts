import { isDay } from '../../../shared/utc-day.js';
import { suggestion } from '../../../shared/names/nearest.js';
import { quote, reference as referenceField } from '../../accounts/fields.js';
import { isKeyId } from '../../accounts/token.js';
import { AdminRefusal } from '../answer.js';

/** The query of one request: only known parameters, each at most once. */
export type Query = ReadonlyMap<string, string>;

const PAGE_DEFAULT = 100;
const PAGE_MAX = 1_000;

/** Throws AdminRefusal 400 for a parameter that is not in `known` or comes twice. */
export function readQuery(search: URLSearchParams, known: readonly string[]): Query {
  const query = new Map<string, string>();
  for (const [name, value] of search) {
    if (!known.includes(name)) {
      throw invalidQuery(`Unknown query parameter ${quote(name)}: ${suggestion(name.slice(0, 64), known)}`);
    }
    if (query.has(name)) throw invalidQuery(`The query parameter "${name}" comes twice.`);
    query.set(name, value);
  }
  return query;
}

/** `limit` (1 to 1000, default 100) and `cursor` (from the page before), which is an id. */
export function readPaging(
  query: Query,
  isId: (text: string) => boolean = isKeyId,
): { readonly count: number; readonly cursor: string | null } {
  const limit = query.get('limit') ?? String(PAGE_DEFAULT);
  const count = /^[0-9]{1,4}$/.test(limit) ? Number(limit) : 0;
  if (count < 1 || count > PAGE_MAX) throw invalidQuery(`limit must be a whole number from 1 to ${PAGE_MAX}.`);
  const cursor = query.get('cursor') ?? null;
  if (cursor !== null && !isId(cursor)) throw invalidQuery('cursor must be the one that came with the page before.');
  return { count, cursor };
}

/** The value of `name` if it is one of `values`; undefined when it isn't sent. */
export function readChoice<T extends string>(query: Query, name: string, values: readonly T[]): T | undefined {
  const value = query.get(name);
  const choice = values.find((one) => one === value);
  if (value !== undefined && choice === undefined) throw invalidQuery(`${name} must be one of ${values.join(', ')}.`);
  return choice;
}

/** A UTC day such as 2026-11-21; undefined when it isn't sent. */
export function readDay(query: Query, name: string): string | undefined {
  const day = query.get(name);
  if (day === undefined) return undefined;
  if (!isDay(day)) throw invalidQuery(`${name} must be a day such as 2026-11-21.`);
  return day;
}

/** What may be the reference of a customer; undefined when it isn't sent. */
export function readReference(query: Query, name: string): string | undefined {
  const reference = query.get(name);
  if (reference === undefined) return undefined;
  // Customers without one have it empty: asked for, it is a slip.
  const problem =
    reference === '' ? 'must not be empty' : referenceField.safeParse(reference).error?.issues[0]?.message;
  if (problem !== undefined) throw invalidQuery(`${name}: ${problem}.`);
  return reference;
}

export function invalidQuery(message: string): AdminRefusal {
  return new AdminRefusal(400, 'invalid_query', message);
}
