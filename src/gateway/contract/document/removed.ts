import { normalTemplate } from './template.js';
import { operationsOf } from './operations.js';
import { follow, isMapping, mapping, type Mapping } from './references.js';
import { serverPaths } from './servers.js';

/** A path that the document had before overlays, and for which it now has no operation. */
export interface RemovedPath {
  /** Base path of its own servers; null: the document's. */
  readonly base: string | null;
  /** In the normal form of requests. */
  readonly template: string;
}

/** Remembers the paths of a document, and returns a function that finds those missing from it later. */
export function rememberPaths(document: Mapping): (later: Mapping) => readonly RemovedPath[] {
  const before = new Map<string, readonly (string | null)[]>(
    Object.entries(mapping(document['paths'])).map(([name, item]) => [name, basesOf(follow(item, document))]),
  );
  return (later) => {
    const paths = mapping(later['paths']);
    return [...before].flatMap(([name, bases]) => {
      const template = normalTemplate(name);
      return template === null || hasOperation(paths[name]) ? [] : bases.map((base) => ({ base, template }));
    });
  };
}

function hasOperation(item: unknown): boolean {
  return isMapping(item) && [...operationsOf(item)].some(([, operation]) => isMapping(operation));
}

/** Returns the base paths of a path's operations: the path and each operation may have servers of their own. */
function basesOf(item: unknown): readonly (string | null)[] {
  if (!isMapping(item)) return [null];
  const own = serverPaths(item['servers'])[0] ?? null;
  const operations = [...operationsOf(item)].map(([, operation]) => operation).filter(isMapping);
  const bases = operations.map(({ servers }) => serverPaths(servers)[0] ?? own);
  return bases.length === 0 ? [own] : [...new Set(bases)];
}
