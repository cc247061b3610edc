import { stringifyExact } from '../../shared/text/exact-numbers.js';
import { list, mapping, pointerName, textIn, type Mapping } from '../contract/document/references.js';
import { markup, paragraphs, type Markup } from './markup.js';
import type { Resolve } from './source.js';

const MAX_DEPTH = 8;
/** For all schemas of a page: schemas that refer to each other can have millions of fields. */
const MAX_FIELDS = 2_000;
const MORE = markup`<p class="hint">More is in openapi.json.</p>`;
const LIMITS =
  'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems ' +
  'uniqueItems minProperties maxProperties const default enum readOnly writeOnly deprecated';

/** A parameter, a header, or a property of a schema. */
interface Field {
  readonly name: string;
  readonly where?: string;
  readonly required?: boolean;
  readonly schema: unknown;
  readonly description?: unknown;
  readonly control?: Markup | false;
}

/** Returns how to render the schemas of one page. */
export function createSchemas(resolve: Resolve) {
  let left = MAX_FIELDS;
  const row = (
    { name, where, required, schema, description, control = false }: Field,
    open: readonly string[],
  ): Markup => {
    const { value } = resolve(schema);
    left -= 1;
    const facts = [...(where === undefined ? [] : [`in ${where}`]), typeOf(schema), ...limitsOf(value)].join(', ');
    return markup`<li><code>${name}</code> ${required === true && markup`<b>required</b> `}
<span class="soft">${facts}</span>
${paragraphs(textIn(description ?? value['description']))}${control}${below(schema, open)}</li>`;
  };
  const fields = (all: readonly Field[], open: readonly string[] = []): Markup =>
    markup`<ul class="fields">${all.map((each) => left > 0 && row(each, open))}
${left <= 0 && markup`<li>${MORE}</li>`}</ul>`;

  /** @param open the references on the way here */
  const below = (schema: unknown, open: readonly string[]): Markup => {
    const { reference, value } = resolve(schema);
    if (reference !== null && open.includes(reference))
      return markup`<p class="hint">The fields of ${nameOf(reference)}, as above.</p>`;
    const next = [...open, reference ?? ''];
    if (next.length > MAX_DEPTH || left <= 0) return MORE;
    if (value['items'] !== undefined) return below(value['items'], next);
    const variants = variantsOf(value).filter((each) => mapping(each)['type'] !== 'null');
    if (variants.length === 1) return below(variants[0], next);
    const all = [...fieldsOf(value, [], next), ...variants.map((each) => field('either', each))];
    if (all.length === 0) return markup``;
    return markup`<details${open.length < 1 && markup` open`}><summary>Fields</summary>${fields(all, next)}</details>`;
  };
  /** Returns the properties of a schema, and of all that it combines. */
  const fieldsOf = (schema: Mapping, required: readonly unknown[], open: readonly string[]): readonly Field[] => {
    const all = list(schema['allOf']).map(resolve);
    const needed = [...required, ...[{ value: schema }, ...all].flatMap(({ value }) => list(value['required']))];
    const { properties, additionalProperties: others } = schema;
    const combined = all.filter(({ reference }) => open.length <= MAX_DEPTH && !open.includes(reference ?? '-'));
    return [
      ...Object.entries(mapping(properties)).map(([name, each]) => field(name, each, needed.includes(name))),
      ...combined.flatMap(({ reference, value }) => fieldsOf(value, needed, [...open, reference ?? ''])),
      ...(typeof others === 'object' ? [field('any other name', others)] : []),
    ];
  };
  const typeOf = (schema: unknown, depth = 0): string => {
    const { reference, value } = resolve(schema);
    const { type, items, format, nullable } = value;
    const variants = variantsOf(value);
    const isObject = ['properties', 'allOf', 'additionalProperties'].some((each) => value[each] !== undefined);
    if (reference !== null && (isObject || variants.length > 0)) return nameOf(reference);
    if (depth > MAX_DEPTH) return 'any';
    if (items !== undefined) return `array of ${typeOf(items, depth + 1)}`;
    if (variants.length > 0) return [...new Set(variants.map((each) => typeOf(each, depth + 1)))].join(' or ');
    const types = [type ?? (isObject ? 'object' : 'any'), nullable === true ? 'null' : []].flat();
    return types.map(textIn).join(' or ') + (typeof format === 'string' ? ` (${format})` : '');
  };
  const schema = (value: unknown): Markup =>
    markup`<p class="soft">${[typeOf(value), ...limitsOf(resolve(value).value)].join(', ')}</p>${below(value, [])}`;
  return { schema, fields };
}

const field = (name: string, schema: unknown, required = false): Field => ({ name, schema, required });

const nameOf = (reference: string): string => pointerName(reference.replace(/^.*\//, ''));

export const variantsOf = ({ oneOf, anyOf }: Mapping): readonly unknown[] => [...list(oneOf), ...list(anyOf)];

/** Returns its constraints: `minimum 1`, `enum "a", "b"`. */
function limitsOf(schema: Mapping): readonly string[] {
  const names = LIMITS.split(' ').filter((name) => schema[name] !== undefined && schema[name] !== false);
  return names.map((name) => {
    const words = name === 'enum' ? 'one of' : name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    if (schema[name] === true && name !== 'default') return words;
    // As JSON, a pattern would have each of its backslashes twice.
    const write = name === 'pattern' ? textIn : stringifyExact;
    const values = [schema[name]].flat().map((each) => write(each));
    return `${words} ${values.join(', ').slice(0, 1_000)}`;
  });
}
