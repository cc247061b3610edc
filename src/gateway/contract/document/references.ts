export type Mapping = Record<string, unknown>;

/** Longer chains of references are taken for circles. */
const MAX_STEPS = 100;
/** A schema with more parts than this, its references followed, is not worth holding a path to. */
const MAX_PARTS = 1_000;

export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Removes a member, if it is there. */
export function leaveOut(holder: Mapping, name: string): void {
  Reflect.deleteProperty(holder, name);
}

/** The value itself, or what the references that stand in its place lead to; undefined when that is nothing. */
export function follow(value: unknown, document: Mapping): unknown {
  let found = value;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const reference = isMapping(found) ? found['$ref'] : undefined;
    if (typeof reference !== 'string') return found;
    found = targetOf(reference, document);
  }
  return undefined;
}

/** A copy without references; undefined when one leads nowhere, or they never end. */
export function expand(value: unknown, document: Mapping): unknown {
  let left = MAX_PARTS;
  const copyOf = (part: unknown): unknown => {
    const found = follow(part, document);
    if (found === undefined) left = 0;
    if (typeof found !== 'object' || found === null) return found;
    if (left-- <= 0) return undefined;
    if (Array.isArray(found)) return found.map(copyOf);
    return Object.fromEntries(Object.entries(found).map(([name, inner]) => [name, copyOf(inner)]));
  };
  const copy = copyOf(value);
  return left <= 0 ? undefined : copy;
}

/** What a JSON pointer names (RFC 6901), such as `#/components/schemas/PetId`. */
function targetOf(reference: string, document: Mapping): unknown {
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

/** What a part of a JSON pointer in a reference names. */
export function pointerName(part: string): string {
  return decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
