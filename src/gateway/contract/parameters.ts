import { z } from 'zod';
import type { PathParameter } from './operation.js';

/** Whether a segment of a path, in normal form, is a value of the parameter that stands there. */
type SegmentCheck = (segment: string) => boolean;

const INTEGER = /^(?:0|-?[1-9][0-9]{0,18})$/;
const RANGES = { int32: [-(2n ** 31n), 2n ** 31n - 1n], int64: [-(2n ** 63n), 2n ** 63n - 1n] } as const;
/** Many servers decode these before they look for slashes. */
const ESCAPED_SEPARATOR = /%2F|%5C/;

const integerSchema = z.object({
  type: z.literal('integer'),
  format: z.enum(['int32', 'int64']).default('int64'),
  minimum: z.number().default(-Infinity),
  maximum: z.number().default(Infinity),
  exclusiveMinimum: z.number().default(-Infinity),
  exclusiveMaximum: z.number().default(Infinity),
});
/** Of JSON Schema, what would hold an integer to something and is not read here. */
const UNREAD = ['enum', 'const', 'multipleOf', 'not', 'allOf', 'anyOf', 'oneOf'] as const;
const parameter = z.object({ name: z.string(), in: z.literal('path'), schema: z.unknown() });

/**
 * The parameters of a template, with their schemas.
 * @param declared the `parameters` of path and operation; the later of two wins
 * @param report called for a parameter that can't be checked against a schema
 */
export function readParameters(
  template: string,
  declared: readonly unknown[],
  document: unknown,
  report: (message: string) => void,
): readonly PathParameter[] {
  const schemas = new Map<string, unknown>();
  for (const each of declared) {
    const parsed = parameter.safeParse(resolve(each, document));
    if (parsed.success) schemas.set(parsed.data.name, resolve(parsed.data.schema, document));
  }
  return template.split('/').flatMap((segment, index) => {
    const name = /^\{(.+)\}$/.exec(segment)?.[1];
    if (name === undefined) return [];
    const schema = schemas.get(name);
    const problem = problemOf(name, schema);
    if (problem !== null) report(problem);
    return [{ segment: index, schema }];
  });
}

function problemOf(name: string, schema: unknown): string | null {
  if (schema === undefined)
    return (
      `{${name}} has no schema; declare it under parameters, such as { name: ${name}, in: path, required: true, ` +
      'schema: { type: integer } }'
    );
  try {
    createCheck(schema);
    return null;
  } catch (error) {
    const said = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    return `the schema of {${name}}, ${JSON.stringify(schema)}, can't be held to: ${said}`;
  }
}

/** Whether all parameters of a path fit their schemas: integers in digits and within bounds; no text with a slash. */
export function createFits(parameters: readonly PathParameter[]): (path: string) => boolean {
  if (parameters.length === 0) return () => true;
  const checks = parameters.map(({ segment, schema }) => ({ segment, check: createCheck(schema) }));
  return (path) => {
    const segments = path.split('/');
    return checks.every(({ segment, check }) => check(segments[segment] ?? ''));
  };
}

/** @throws Error when the schema says what is not checked here */
function createCheck(schema: unknown): SegmentCheck {
  const { type } = z
    .looseObject({
      type: z.enum(['integer', 'string'], { error: 'a parameter of a path is of type integer or string' }),
    })
    .parse(schema);
  return type === 'integer' ? createIntegerCheck(schema as object) : createTextCheck(schema as object);
}

function createIntegerCheck(schema: object): SegmentCheck {
  const unread = UNREAD.find((keyword) => keyword in schema);
  if (unread !== undefined) throw new Error(`of an integer, ${unread} is not checked; use minimum and maximum`);
  const { format, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = integerSchema.parse(schema);
  const [lowest, highest] = RANGES[format];
  const least = Math.max(Math.ceil(minimum), Math.floor(exclusiveMinimum) + 1);
  const max = Math.min(Math.floor(maximum), Math.ceil(exclusiveMaximum) - 1);
  return (segment) => {
    if (!INTEGER.test(segment)) return false;
    const value = BigInt(segment);
    return value >= lowest && value <= highest && value >= least && value <= max;
  };
}

function createTextCheck(schema: object): SegmentCheck {
  const text = z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema);
  return (segment) => {
    if (!segment.includes('%')) return text.safeParse(segment).success;
    if (ESCAPED_SEPARATOR.test(segment)) return false;
    try {
      return text.safeParse(decodeURIComponent(segment)).success;
    } catch {
      return false; // not UTF-8
    }
  };
}

/** What a value, or the reference that stands in its place (`#/components/schemas/PetId`), says. */
function resolve(value: unknown, document: unknown): unknown {
  const { success, data } = z.looseObject({ $ref: z.string().startsWith('#/') }).safeParse(value);
  if (!success) return value;
  let found = document;
  for (const name of data.$ref.slice(2).split('/')) {
    found =
      typeof found === 'object' && found !== null
        ? new Map<string, unknown>(Object.entries(found)).get(name)
        : undefined;
  }
  return found === undefined ? value : found;
}
