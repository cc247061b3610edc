import { follow, type Mapping } from '../../src/gateway/contract/document/references.js';

/** The references of a document that lead nowhere. */
export function danglingIn(document: object): readonly string[] {
  const found = new Set<string>();
  JSON.stringify(document, (name, value: unknown) => {
    const isDangling = name === '$ref' && typeof value === 'string' && value.startsWith('#');
    if (isDangling && follow({ $ref: value }, document as Mapping) === undefined) found.add(value);
    return value;
  });
  return [...found];
}
