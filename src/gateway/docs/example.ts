import { stringifyExact, unmark } from '../../shared/text/exact-numbers.js';
import { list, mapping, type Mapping } from '../contract/document/references.js';
import { variantsOf } from './schema.js';
import type { Resolve } from './source.js';

const MAX_DEPTH = 6;
/** Of an example that is made from a schema, which may contain itself. */
const MAX_VALUES = 100;

export interface Body {
  readonly type: string;
  readonly text: string;
}

/** Returns the first example of a media type; without one, an example made from its schema. */
export function bodyOf(type: string, { example, examples, schema }: Mapping, resolve: Resolve): Body {
  const [first] = Object.values(mapping(examples)).map((each) => resolve(each).value['value']);
  return { type, text: written(type, example ?? first ?? createSample(resolve)(schema)) };
}

function written(type: string, value: unknown): string {
  if (/[/+]json\b|\*\/\*/i.test(type)) return value === undefined ? '' : stringifyExact(value, undefined, 2);
  if (type !== 'application/x-www-form-urlencoded') return typeof value === 'string' ? value : '';
  const pairs = Object.entries(mapping(value)).map(([name, each]): [string, string] => [name, String(unmark(each))]);
  return new URLSearchParams(pairs).toString();
}

/** Returns a function that makes a value from a schema: from its examples, defaults and enumerations, or its type. */
function createSample(resolve: Resolve) {
  let left = MAX_VALUES;
  return function sample(schema: unknown, depth = 0): unknown {
    const { value } = resolve(schema);
    const { example, examples, default: usual, const: only, enum: values, properties, items, minimum = 0 } = value;
    const shown = [example, list(examples)[0], usual, only, list(values)[0]].find((each) => each !== undefined);
    if (shown !== undefined) return shown;
    if (depth > MAX_DEPTH || (left -= 1) < 0) return null;
    const made = (each: unknown): unknown => sample(each, depth + 1);
    const members = Object.entries(mapping(properties)).map(([name, each]) => [name, made(each)]);
    const parts = [...list(value['allOf']), ...variantsOf(value).slice(0, 1)].map(made);
    const objects = parts.filter((part) => typeof part === 'object');
    if (members.length + objects.length > 0)
      return Object.assign({}, ...objects, Object.fromEntries(members)) as object;
    if (items !== undefined) return [made(items)];
    const byType = { string: 'text', integer: minimum, number: minimum, boolean: true, object: {}, array: [] };
    return parts[0] ?? new Map<unknown, unknown>(Object.entries(byType)).get([value['type']].flat()[0]);
  };
}
