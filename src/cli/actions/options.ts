import { Option } from 'commander';
import type { Json } from '../admin/admin-client.js';
import { isMapping } from '../../shared/mapping.js';
import { DAY_MS } from '../../shared/utc-day.js';

/** The parts of a body's or query's JSON schema that options are made from. */
interface Schema {
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly writeOnly?: boolean;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** An option, and the request fields it sets. */
export interface Field {
  readonly option: Option;
  /** Its name in commander's values. */
  readonly name: string;
  readonly fieldsIn: (value: unknown) => Json;
  /** Its value is read from standard input, because it is a secret. */
  readonly isSecret?: true;
}

/** Placeholders for values, if the name of the option is not one. */
const VALUES: Readonly<Record<string, string>> = {
  ...{ customer: 'id', environment: 'name', expires: 'date', for: 'duration', from: 'day', key: 'id', limit: 'count' },
  ...{ name: 'text', note: 'text', overlap: 'duration', reason: 'text', reference: 'text', requests: 'count' },
  ...{ search: 'text', to: 'day', units: 'count', until: 'date' },
};
const DATES = ['expires', 'until'];
const DATE_FORMS = '2027-01-31, 2027-01-31T12:00:00Z, 90d (from now)';
/** Removed from descriptions: the command line has a word or an option in place of null. */
const OR_NULL = /; null for \w+$/;

/** Returns the options for the fields of this JSON schema. */
export function optionsFor(schema: object): readonly Field[] {
  const { properties = {}, required = [] } = schema as Schema;
  return Object.entries(properties)
    .filter(([name]) => name !== 'cursor')
    .flatMap(([name, schema]) => optionsOf(name, schema, required.includes(name)));
}

function optionsOf(name: string, schema: Schema, isRequired: boolean): readonly Field[] {
  const kinds = schema.anyOf ?? [schema];
  const { description = name } = schema;
  const about = lowered(description.replace(OR_NULL, ''));
  const object = kinds.find(({ type }) => type === 'object');
  if (object !== undefined)
    return Object.entries(object.properties ?? {}).map(([part, { description = part, ...kind }]) =>
      field(`--${part} <units>`, lowered(description), (text) => ({ [name]: { [part]: valueOf(part, text, kind) } })),
    );
  if (kinds.some(({ type }) => type === 'array')) {
    const one = name.replace(/s$/, '');
    const all = field(`--all-${name}`, `all ${name}`, () => ({ [name]: null }));
    return [field(`--${one} <${one}...>`, about, (values) => ({ [name]: values })), all];
  }
  if (schema.writeOnly === true)
    return [{ ...field('--import', `${about}, from standard input`, (text) => ({ [name]: text })), isSecret: true }];
  const made = field(
    `--${name} <${VALUES[name] ?? name}>`,
    DATES.includes(name) ? `${about}: ${DATE_FORMS}${OR_NULL.test(description) ? ', or never' : ''}` : about,
    (text) => ({ [name]: valueOf(name, text, schema) }),
  );
  if (schema.enum !== undefined) made.option.choices(schema.enum);
  made.option.makeOptionMandatory(isRequired);
  return [made];
}

function field(flags: string, about: string, fieldsIn: Field['fieldsIn']): Field {
  const option = new Option(flags, about);
  return { option, name: option.attributeName(), fieldsIn };
}

/** Returns the request fields that the given options set. */
export function fieldsIn(fields: readonly Field[], values: Readonly<Record<string, unknown>>): Json {
  const all: Record<string, unknown> = {};
  for (const { name, fieldsIn: read } of fields)
    for (const [field, value] of values[name] === undefined ? [] : Object.entries(read(values[name])))
      all[field] = isMapping(value) && isMapping(all[field]) ? { ...all[field], ...value } : value;
  return all;
}

/** Leaves a value that does not fit the field unchanged: the gateway reports why it is wrong. */
function valueOf(name: string, given: unknown, schema: Schema): unknown {
  const text = String(given);
  if (DATES.includes(name)) return dateOf(text);
  const isNumber = (schema.anyOf ?? [schema]).some(({ type }) => type === 'integer');
  return isNumber && /^[+-]?\d{1,15}$/.test(text) ? Number(text) : text;
}

/** Returns a date as the gateway takes it; null for `never`. */
function dateOf(text: string): string | null {
  if (text === 'never') return null;
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  return days === undefined ? text : new Date(Date.now() + Number(days) * DAY_MS).toISOString();
}

/** Lowers the first letter: `Only keys on this plan` → `only keys on this plan`; `UTC day` stays. */
export function lowered(text: string): string {
  return /^[A-Z](?![A-Z])/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
