import { isMapping, type Mapping } from './references.js';

/** Our policy for a document, a path or an operation. */
export const POLICY = 'x-petgate';
/** Methods that a path may have as members, in the order of Allow. */
export const METHODS = ['get', 'head', 'query', 'post', 'put', 'patch', 'delete', 'options'] as const;
/** Operations of any other method, by its name (OpenAPI 3.2). */
export const ADDITIONAL = 'additionalOperations';
/** Every operation of a path: its method, what the document says of it, and where, below the path. */
export function* operationsOf(
  item: Mapping,
): Generator<readonly [method: string, value: unknown, at: readonly string[]]> {
  for (const name of METHODS) if (item[name] !== undefined) yield [name.toUpperCase(), item[name], [name]];
  const more = item[ADDITIONAL];
  if (!isMapping(more)) return;
  for (const [name, value] of Object.entries(more)) yield [name, value, [ADDITIONAL, name]];
}

/** A document that says nothing of it wants a key; an empty way to authenticate is OpenAPI's word for "or none". */
export function isSecured(security: unknown): boolean {
  if (!Array.isArray(security)) return true;
  return security.length > 0 && security.every((way) => isMapping(way) && Object.keys(way).length > 0);
}
