import { isMapping } from '../../../shared/mapping.js';
import type { Check } from './segments.js';

/** What a text may represent. Integers of many digits are bigints, so that int64 is exact. */
export type Value = string | number | bigint | boolean | readonly string[];
export type Schema = Readonly<Record<string, unknown>>;

/** No leading zeros: an integer has only one spelling. */
const INTEGER = /^(?:0|-?[1-9][0-9]{0,39})$/;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
/** Many servers decode these before they look for slashes. */
const ESCAPED_SEPARATOR = /%2F|%5C/;

/** Reads a text as a value of each type (OpenAPI's style `simple`); null if it is not one. */
const READERS = new Map<unknown, (text: string) => Value | null>([
  ['string', readText],
  ['number', readNumber],
  ['integer', readNumber],
  ['boolean', (text) => (text === 'true' ? true : text === 'false' ? false : null)],
  ['array', (text) => text.split(',')],
]);

/** Checks whether a value, read from `text`, is of each type. */
export const TYPES = new Map<unknown, (value: Value, text: string) => boolean>([
  ['string', (value) => typeof value === 'string'],
  ['number', isNumber],
  ['integer', (value, text) => isNumber(value) && INTEGER.test(text)],
  ['boolean', (value) => typeof value === 'boolean'],
  ['array', (value) => typeof value === 'object'],
  ['null', () => false],
]);

/** The types that a keyword implies in a schema without a type. */
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
 * Returns the schema with the types that its keywords imply where it names none. Otherwise a pattern alone would have
 * no effect: in JSON Schema every number and list passes it, and any text in a path can be read as a list.
 */
export function withTypes(schema: unknown): unknown {
  if (!isMapping(schema) || schema['type'] !== undefined) return schema;
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

/** Returns the readers for the types that a schema names; if it names none, the one for strings. */
export function readersFor(schema: unknown): readonly ((text: string) => Value | null)[] {
  const types = [...typesIn(schema)];
  const readers = (types.length === 0 ? ['string'] : types).flatMap((type) => READERS.get(type) ?? []);
  return [...new Set(readers)];
}

function* typesIn(schema: unknown): Generator {
  if (!isMapping(schema)) return;
  if (schema['type'] !== undefined) return yield* [schema['type']].flat();
  // Their members are compared as text.
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
