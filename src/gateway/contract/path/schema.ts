import { isMapping } from '../../../shared/mapping.js';
import { isDay } from '../../../shared/utc-day.js';
import { compilePattern, MAX_STATES, Unheld } from './pattern.js';
import type { Check } from './segments.js';
import { isNumber, isText, readersFor, TYPES, withTypes, type Schema, type Value } from './value.js';

/** @param text what the value was read from; for a string, with escapes decoded */
type Test = (value: Value, text: string) => boolean;
type Compare = (size: number | bigint, bound: number | bigint) => boolean;
type Keyword = (operand: unknown, budget: Budget) => Test;
/** How many subschemas, and how many states of patterns, a schema may still use. */
interface Budget {
  left: number;
  states: number;
}

const MAX_SCHEMAS = 1_000;
/** Keywords that could constrain a text too, but are not supported here. */
const UNREAD = ['multipleOf', 'prefixItems', 'contains', 'if', '$ref'];
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Any other format is only an annotation, as JSON Schema allows. */
const FORMATS = new Map<unknown, Test>([
  ['int32', (value) => !isNumber(value) || (value >= -(2n ** 31n) && value < 2n ** 31n)],
  ['int64', (value) => !isNumber(value) || (value >= -(2n ** 63n) && value < 2n ** 63n)],
  ['uuid', (value) => typeof value !== 'string' || UUID.test(value)],
  ['date', (value) => typeof value !== 'string' || isDay(value)],
]);

const isAtMin: Compare = (size, bound) => size >= bound;
const isAtMax: Compare = (size, bound) => size <= bound;

/** The JSON Schema keywords that can constrain a text. */
const KEYWORDS = new Map<string, Keyword>([
  ['type', isOfType],
  ['enum', (operand) => isOneOf(listOf(operand, 'an enum that is not a list'))],
  ['const', (operand) => isOneOf([operand])],
  ['minimum', measured(itself, isAtMin)],
  ['maximum', measured(itself, isAtMax)],
  ['exclusiveMinimum', measured(itself, (size, bound) => size > bound)],
  ['exclusiveMaximum', measured(itself, (size, bound) => size < bound)],
  ['minLength', measured(length, isAtMin)],
  ['maxLength', measured(length, isAtMax)],
  ['pattern', matches],
  ['format', (operand) => FORMATS.get(operand) ?? (() => true)],
  ['minItems', measured(count, isAtMin)],
  ['maxItems', measured(count, isAtMax)],
  [
    'uniqueItems',
    (operand) => (value) => operand !== true || typeof value !== 'object' || new Set(value).size === value.length,
  ],
  ['items', itemsFit],
  ['allOf', counted((fitting, all) => fitting === all)],
  ['anyOf', counted((fitting) => fitting > 0)],
  ['oneOf', counted((fitting) => fitting === 1)],
  ['not', (operand, budget) => counted((fitting) => fitting === 0)([operand], budget)],
  ...UNREAD.map((name): [string, Keyword] => [name, () => refuse(name)]),
]);

/**
 * Returns a check whether a parameter's text fits its schema. The text is read as the schema's type, or as the type
 * that its keywords imply. Without a schema, or with an unsupported one, any text fits, except an escaped slash.
 */
export function holdTo(schema: unknown): { readonly check: Check; readonly problem: string | null } {
  if (schema === undefined || isPlainText(schema)) return { check: isText, problem: null };
  try {
    const fits = reader(schema, { left: MAX_SCHEMAS, states: MAX_STATES });
    return {
      check: (path, start, end) => isText(path, start, end) && fits(path.slice(start, end)),
      problem: null,
    };
  } catch (error) {
    if (!(error instanceof Unheld)) throw error;
    return { check: isText, problem: error.message };
  }
}

/** Returns whether a schema is a string with no constraints, only descriptions and examples, as most are. */
function isPlainText(schema: unknown): boolean {
  if (!isMapping(schema) || schema['type'] !== 'string') return false;
  return Object.keys(schema).every((name) => name === 'type' || !KEYWORDS.has(name));
}

function reader(schema: unknown, budget: Budget): (text: string) => boolean {
  const typed = withTypes(schema);
  const test = compile(typed, budget);
  const readers = readersFor(typed);
  return (text) =>
    readers.some((read) => {
      const value = read(text);
      return value !== null && test(value, typeof value === 'string' ? value : text);
    });
}

function compile(schema: unknown, budget: Budget): Test {
  if (typeof schema === 'boolean') return () => schema;
  if (!isMapping(schema)) return refuse('what is no schema');
  if ((budget.left -= 1) < 0) return refuse('so large a schema');
  const tests = Object.entries(inFull(schema)).flatMap(([name, operand]) =>
    operand === undefined ? [] : (KEYWORDS.get(name)?.(operand, budget) ?? []),
  );
  return (value, text) => tests.every((test) => test(value, text));
}

/** Adds what is implied: integers are int64 by default; `exclusiveMinimum: true` (OpenAPI 3.0) applies to `minimum`. */
function inFull(schema: Schema): Schema {
  const bound = (exclusive: unknown, inclusive: unknown): unknown =>
    typeof exclusive !== 'boolean' ? exclusive : exclusive ? inclusive : undefined;
  return {
    format: [schema['type']].flat().includes('integer') ? 'int64' : undefined,
    ...schema,
    exclusiveMinimum: bound(schema['exclusiveMinimum'], schema['minimum']),
    exclusiveMaximum: bound(schema['exclusiveMaximum'], schema['maximum']),
  };
}

/** Decides by how many of the schemas in a list fit. */
function counted(holds: (fitting: number, all: number) => boolean): Keyword {
  return (operand, budget) => {
    const tests = listOf(operand, 'what is no list of schemas').map((schema) => compile(schema, budget));
    return (value, text) => holds(tests.filter((test) => test(value, text)).length, tests.length);
  };
}

function isOfType(operand: unknown): Test {
  const tests = [operand].flat().map((type) => TYPES.get(type) ?? refuse(`type ${String(type)}`));
  return (value, text) => tests.some((test) => test(value, text));
}

/** Compares texts, because documents also list 1 and true where a string is meant. */
function isOneOf(members: readonly unknown[]): Test {
  const texts = new Set(members.filter((member) => member !== null).map(String));
  return (_value, text) => texts.has(text);
}

function measured(sizeOf: (value: Value) => number | bigint | null, compare: Compare): Keyword {
  return (operand) => {
    if (typeof operand !== 'number' && typeof operand !== 'bigint')
      return refuse(`the bound ${JSON.stringify(operand)}`);
    return (value) => {
      const size = sizeOf(value);
      return size === null || compare(size, operand);
    };
  };
}

function itself(value: Value): number | bigint | null {
  return isNumber(value) ? value : null;
}

function length(value: Value): number | null {
  return typeof value === 'string' ? Array.from(value).length : null;
}

function count(value: Value): number | null {
  return typeof value === 'object' ? value.length : null;
}

function matches(operand: unknown, budget: Budget): Test {
  const source = typeof operand === 'string' ? operand : refuse('a pattern that is not text');
  const pattern = compilePattern(source, budget);
  return (value) => typeof value !== 'string' || pattern(value);
}

function itemsFit(operand: unknown, budget: Budget): Test {
  const fits = reader(operand, budget);
  return (value) => typeof value !== 'object' || value.every(fits);
}

function listOf(operand: unknown, what: string): readonly unknown[] {
  return Array.isArray(operand) ? operand : refuse(what);
}

function refuse(what: string): never {
  throw new Unheld(`${what} is not checked in paths`);
}
