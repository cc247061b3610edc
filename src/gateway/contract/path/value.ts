import type { Check } from './segments.js';

/** What a text may stand for. A whole number of many digits is a bigint, so that int64 is exact. */
export type Value = string | number | bigint | boolean | readonly string[];
export type Schema = Readonly<Record<string, unknown>>;

/** One way to write each. */
const INTEGER = /^(?:0|-?[1-9][0-9]{0,39})$/;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
/** Many servers decode these before they look for slashes. */
const ESCAPED_SEPARATOR = /%2F|%5C/;

/** How a text is read as a value of each type (OpenAPI's style `simple`); null where it is none. */
const READERS = new Map<unknown, (text: string) => Value | null>([
  ['string', readText],
  ['number', readNumber],
  ['integer', readNumber],
  ['boolean', (text) => (text === 'true' ? true : text === 'false' ? false : null)],
  ['array', (text) => text.split(',')],
]);

/** Whether a value is of the type, by what it was read from too. */
export const TYPES = new Map<unknown, (value: Value, text: string) => boolean>([
  ['string', (value) => typeof value === 'string'],
  ['number', isNumber],
  ['integer', (value, text) => isNumber(value) && INTEGER.test(text)],
  ['boolean', (value) => typeof value === 'boolean'],
  ['array', (value) => typeof value === 'object'],
  ['null', () => false],
]);

/** What a schema speaks of that has this keyword, and no type. */
const IMPLIED = new Map<string, readonly string[]>([
  ...['pattern', 'minLength', 'maxLength'].map((name) => [name, ['string']] as const),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((name) => [name, ['number']] as const),
  ...['items', 'minItems', 'maxItems', 'uniqueItems'].map((name) => [name, ['array']] as const),
]);
const IMPLIED_BY_FORMAT = new Map<unknown, string>([
  ['int32', 'integer'],
  ['int64', 'integer'],
  ['uuid', 'string'],
  ['date', 'string'],
]);

const COMBINATIONS = ['allOf', 'anyOf', 'oneOf', 'not'];

/**
 * The schema with the types that it is about where it names none, by what it says: in JSON Schema a pattern alone lets
 * every number and list pass, which any text of a path can be read as.
 */
export function withTypes(schema: unknown): unknown {
  if (!isObject(schema) || schema['type'] !== undefined) return schema;
  const implied = Object.entries(schema).flatMap(([name, operand]) =>
    name === 'format' ? (IMPLIED_BY_FORMAT.get(operand) ?? []) : (IMPLIED.get(name) ?? []),
  );
  if (implied.length > 0) return { ...schema, type: implied };
  const inner = COMBINATIONS.filter((name) => schema[name] !== undefined).map((name) => [
    name,
    Array.isArray(schema[name]) ? schema[name].map(withTypes) : withTypes(schema[name]),
  ]);
  return { ...schema, ...(Object.fromEntries(inner) as Schema) };
}

/** How a text is read that must fit a schema with its types; where it says nothing of them, as text. */
export function readersFor(schema: unknown): readonly ((text: string) => Value | null)[] {
  const types = [...typesIn(schema)];
  const readers = (types.length === 0 ? ['string'] : types).flatMap((type) => READERS.get(type) ?? []);
  return [...new Set(readers)];
}

function* typesIn(schema: unknown): Generator {
  if (!isObject(schema)) return;
  if (schema['type'] !== undefined) return yield* [schema['type']].flat();
  // By their text.
  if (schema['enum'] !== undefined || schema['const'] !== undefined) yield 'string';
  for (const name of COMBINATIONS) for (const one of [schema[name]].flat()) yield* typesIn(one);
}

export const isText: Check = (path, start, end) => {
  const escape = path.indexOf('%', start);
  return escape === -1 || escape >= end || readText(path.slice(start, end)) !== null;
};

function readText(text: string): string | null {
  if (!text.includes('%')) return text;
  if (ESCAPED_SEPARATOR.test(text)) return null;
  try {
    return decodeURIComponent(text);
  } catch {
    return null; // not UTF-8
  }
}

function readNumber(text: string): number | bigint | null {
  if (INTEGER.test(text)) return text.length < 16 ? Number(text) : BigInt(text);
  const value = NUMBER.test(text) ? Number(text) : Infinity;
  return Number.isFinite(value) ? value : null;
}

export function isNumber(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

export function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
