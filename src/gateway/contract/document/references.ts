import { isMapping } from '../../../shared/mapping.js';
import { unmark } from '../../../shared/text/exact-numbers.js';

export { isMapping };
export type Mapping = Record<string, unknown>;

/** A longer chain of references is treated as a cycle. */
const MAX_STEPS = 100;
/** A schema with more parts than this, with references resolved, is not checked in paths. */
const MAX_PARTS = 1_000;

/** Returns the value if it is a mapping, or else an empty one. */
export function mapping(value: unknown): Mapping {
  return isMapping(value) ? value : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function leaveOut(holder: Mapping, name: string): void {
  Reflect.deleteProperty(holder, name);
}

/** Returns the value, or what it refers to if it is a reference; undefined if that leads nowhere. */
export function follow(value: unknown, document: Mapping): unknown {
  let found = value;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const reference = isMapping(found) ? found['$ref'] : undefined;
    if (typeof reference !== 'string') return found;
    found = targetOf(reference, document);
  }
  return undefined;
}

/** Returns the parameters that a path and an operation declare; a reference that leads nowhere is an empty one. */
export function parametersIn(holders: readonly Mapping[], document: Mapping): readonly Mapping[] {
  return holders.flatMap(({ parameters }) => list(parameters)).map((each) => mapping(follow(each, document)));
}

/** Returns a copy with all references resolved; undefined if one leads nowhere, or there are too many parts. */
export function expand(value: unknown, document: Mapping): unknown {
  let left = MAX_PARTS;
  const copyOf = (part: unknown): unknown => {
    const found = follow(part, document);
    if (found === undefined) left = 0;
    if (typeof found !== 'object' || found === null) return unmark(found);
    if (left-- <= 0) return undefined;
    if (Array.isArray(found)) return found.map(copyOf);
    return Object.fromEntries(Object.entries(found).map(([name, inner]) => [name, copyOf(inner)]));
  };
  const copy = copyOf(value);
  return left <= 0 ? undefined : copy;
}

/** Resolves a JSON pointer (RFC 6901) such as `#/components/schemas/PetId`; undefined if it leads nowhere. */
export function targetOf(reference: string, document: Mapping): unknown {
  if (reference === '#') return document;
  if (!reference.startsWith('#/')) return undefined;
  let found: unknown = document;
  for (const part of reference.slice(2).split('/')) {
    const name = pointerName(part);
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Mapping)[name];
  }
  return found;
}

/** Decodes a part of a JSON pointer in a reference. */
export function pointerName(part: string): string {
  return decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Returns the text with its escapes decoded; unchanged if they are not UTF-8. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
