import { follow, isMapping, type Mapping } from './document/references.js';
import type { Contract } from './load.js';
import type { Operation } from './operation.js';

export interface ExampleRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
}

/** Returns a request to try. Prefers a GET without parameters, or with the document's examples filled in. */
export function exampleRequest({ routes, document }: Contract): ExampleRequest {
  const forwarded = routes.operations.filter(
    ({ upstream, sunsetAtMs }) => upstream !== 'gateway' && sunsetAtMs === null,
  );
  if (forwarded.some(({ anyPath }) => anyPath === true)) return { method: 'GET', target: '/' };
  const described = JSON.parse(document.toString()) as Mapping;
  const isPlain = ({ path }: Operation): boolean => !path.includes('{');
  const ranked = [
    ...forwarded.filter((operation) => operation.method === 'GET' && isPlain(operation)),
    ...forwarded.filter((operation) => operation.method === 'GET' && !isPlain(operation)),
    ...forwarded.filter(({ method }) => method !== 'GET'),
  ];
  const requests = ranked.flatMap((operation) => requestOf(operation, described));
  return (
    requests.find(({ method, target }) => method === 'GET' && !target.includes('?')) ??
    requests[0] ?? { method: 'GET', target: '/' }
  );
}

/** Returns the operation's request; empty if a required parameter has no example in the document. */
function requestOf({ method, path }: Operation, document: Mapping): readonly ExampleRequest[] {
  const parameters = parametersOf(method, path, document);
  const values = new Map(parameters.map(({ name, value }) => [name, value]));
  const filled = path.replaceAll(/\{([^{}]*)\}/g, (all, name: string) => values.get(name) ?? all);
  const query = parameters.filter(({ where, required }) => where === 'query' && required);
  if (filled.includes('{') || query.some(({ value }) => value === undefined)) return [];
  const text = query.map(({ name, value }) => `${encodeURIComponent(name)}=${value ?? ''}`).join('&');
  return [{ method, target: text === '' ? filled : `${filled}?${text}` }];
}

interface Parameter {
  readonly name: string;
  readonly where: unknown;
  readonly required: boolean;
  /** As written in a URL. */
  readonly value: string | undefined;
}

function parametersOf(method: string, path: string, document: Mapping): readonly Parameter[] {
  const item = (document['paths'] as Mapping)[path];
  if (!isMapping(item)) return [];
  const operation = item[method.toLowerCase()];
  const lists = [item['parameters'], isMapping(operation) ? operation['parameters'] : []];
  return lists
    .flatMap((list): readonly unknown[] => (Array.isArray(list) ? list : []))
    .map((each) => follow(each, document))
    .filter(isMapping)
    .map((each) => ({
      name: String(each['name']),
      where: each['in'],
      required: each['required'] === true,
      value: valueOf(each, follow(each['schema'], document)),
    }));
}

function valueOf(parameter: Mapping, schema: unknown): string | undefined {
  const { example, examples } = parameter;
  const shown = isMapping(examples) ? Object.values(examples).map((each) => isMapping(each) && each['value']) : [];
  const said = isMapping(schema) ? [schema['example'], schema['examples'], schema['default'], schema['enum']] : [];
  const found = [example, ...shown, ...said]
    .flat()
    .find((value) => typeof value === 'string' || typeof value === 'number');
  return found === undefined ? undefined : encodeURIComponent(String(found));
}
