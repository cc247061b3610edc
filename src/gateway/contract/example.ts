import { parseExact, unmark } from '../../shared/text/exact-numbers.js';
import { follow, isMapping, mapping, parametersIn, type Mapping } from './document/references.js';
import type { Contract } from './load.js';
import type { Operation } from './operation/operation.js';

export interface ExampleRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly body?: { readonly type: string; readonly text: string } | undefined;
}

/**
 * Returns a request to try. Prefers a GET without parameters, or with the document's examples filled in.
 * @param parse returns the contract's document
 */
export function exampleRequest(
  { routes, document }: Contract,
  parse = () => parseExact(document.toString()) as Mapping,
): ExampleRequest {
  const forwarded = routes.operations.filter(
    ({ upstream, sunsetAtMs }) => upstream !== 'gateway' && sunsetAtMs === null,
  );
  if (forwarded.some(({ anyPath }) => anyPath === true)) return { method: 'GET', target: '/' };
  const described = parse();
  const rankOf = ({ method, path }: Operation): number => (method === 'GET' ? Number(path.includes('{')) : 2);
  let first: ExampleRequest | undefined;
  for (const { method, path } of forwarded.toSorted((one, other) => rankOf(one) - rankOf(other))) {
    const target = exampleTarget(path, parametersOf(method, path, described));
    // A required parameter has no example in the document.
    if (target.includes('{')) continue;
    if (method === 'GET' && !target.includes('?')) return { method, target };
    first ??= { method, target };
  }
  return first ?? { method: 'GET', target: '/' };
}

interface Parameter {
  readonly name: string;
  readonly where: unknown;
  readonly required: boolean;
  readonly value: string | undefined;
}

/** Returns path and query with the values of required parameters; `{name}` for those without. */
export function exampleTarget(path: string, parameters: readonly Parameter[]): string {
  const text = ({ name, value }: Parameter): string => (value === undefined ? `{${name}}` : encodeURIComponent(value));
  const target = path.replaceAll(/\{\+?([^{}]*?)[+*]?\}/g, (all, wanted: string) => {
    const found = parameters.find(({ name, where }) => where === 'path' && name === wanted);
    return found === undefined ? all : text(found);
  });
  const query = parameters.filter(({ where, required }) => where === 'query' && required);
  const pairs = query.map((each) => `${encodeURIComponent(each.name)}=${text(each)}`).join('&');
  return pairs === '' ? target : `${target}?${pairs}`;
}

function parametersOf(method: string, path: string, document: Mapping): readonly Parameter[] {
  const item = mapping(mapping(document['paths'])[path]);
  return parametersIn([item, mapping(item[method.toLowerCase()])], document).map((each) => ({
    name: String(each['name']),
    where: each['in'],
    required: each['required'] === true,
    value: exampleText(each, follow(each['schema'], document)),
  }));
}

/** Returns the parameter's first example, default or permitted value; undefined if it has none. */
export function exampleText(parameter: Mapping, schema: unknown): string | undefined {
  const { example, examples } = parameter;
  const shown = isMapping(examples) ? Object.values(examples).map((each) => isMapping(each) && each['value']) : [];
  const said = isMapping(schema) ? [schema['example'], schema['examples'], schema['default'], schema['enum']] : [];
  const found = [example, ...shown, ...said]
    .flat()
    .map(unmark)
    .find((value) => typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint');
  return found === undefined ? undefined : String(found);
}
