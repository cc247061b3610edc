import { isMapping, type Mapping } from './references.js';

/** The member with our policy for a document, a path or an operation. */
export const POLICY = 'x-petgate';
/** Methods that OpenAPI allows as members of a path, in the order of Allow. */
export const METHODS = ['get', 'head', 'query', 'post', 'put', 'patch', 'delete', 'options'] as const;
/** The member with operations of other methods, by name (OpenAPI 3.2). */
export const ADDITIONAL = 'additionalOperations';
/** Yields every operation of a path: its method, its value, and its location below the path. */
export function* operationsOf(
  item: Mapping,
): Generator<readonly [method: string, value: unknown, at: readonly string[]]> {
  for (const name of METHODS) if (item[name] !== undefined) yield [name.toUpperCase(), item[name], [name]];
  const more = item[ADDITIONAL];
  if (!isMapping(more)) return;
  for (const [name, value] of Object.entries(more)) yield [name, value, [ADDITIONAL, name]];
}

/** Returns whether a key is required, which is the default. In OpenAPI an empty requirement makes it optional. */
export function isSecured(security: unknown): boolean {
  if (!Array.isArray(security)) return true;
  return security.length > 0 && security.every((way) => isMapping(way) && Object.keys(way).length > 0);
}
