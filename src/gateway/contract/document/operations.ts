import { isMapping } from './references.js';

/** Methods a path may have, in the order of Allow. */
export const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'] as const;
/** What a path may have too, and is never served. */
export const UNSERVED = ['trace', 'query', 'additionalOperations'] as const;

/** A document that says nothing of it wants a key; an empty way to authenticate is OpenAPI's word for "or none". */
export function isSecured(security: unknown): boolean {
  if (!Array.isArray(security)) return true;
  return security.length > 0 && security.every((way) => isMapping(way) && Object.keys(way).length > 0);
}
