import { METHODS } from './operations.js';
import { isMapping, pointerName, type Mapping } from './references.js';
import { serverPaths } from './servers.js';

const REFERENCE = /("(?:\$ref|operationRef)":"#\/paths\/)([^"\\/]*)(?:\/([a-z]+))?(?=[/"])/g;

/**
 * Paths as clients request them, with the base path included: generated clients ignore servers of paths and operations.
 * @param base base path of those without servers of their own
 */
export class FullPaths {
  readonly paths: Mapping = {};
  /** New paths, by `template` and by `template method`. */
  readonly #moved = new Map<string, string>();

  constructor(paths: Mapping, base: string) {
    for (const [template, item] of Object.entries(paths)) {
      if (isMapping(item)) this.#add(template, item, base);
      else this.paths[template] = item;
    }
  }

  /** Returns the document's text with references to paths updated. */
  rewrite(text: string): string {
    return text.replaceAll(REFERENCE, (all: string, before: string, token: string, method: string | undefined) => {
      const template = pointerName(token);
      const to = this.#moved.get(`${template} ${method}`) ?? this.#moved.get(template);
      if (to === undefined || to === template) return all;
      const name = encodeURI(to.replaceAll('~', '~0').replaceAll('/', '~1'));
      return `${before}${name}${method === undefined ? '' : `/${method}`}`;
    });
  }

  #add(template: string, { servers, ...item }: Mapping, base: string): void {
    const itemBase = serverPaths(servers)[0] ?? base;
    this.#moved.set(template, itemBase + template);
    const shared: Mapping = {};
    const byPath = new Map<string, Mapping>([[itemBase + template, {}]]);
    for (const [name, value] of Object.entries(item)) {
      if (!METHODS.some((method) => method === name) || !isMapping(value)) {
        shared[name] = value;
        continue;
      }
      const { servers: own, ...operation } = value;
      const path = (serverPaths(own)[0] ?? itemBase) + template;
      byPath.set(path, { ...byPath.get(path), [name]: operation });
      this.#moved.set(`${template} ${name}`, path);
    }
    for (const [path, operations] of byPath) this.#put(path, { ...shared, ...operations });
  }

  /** If two operations have the same path and method, the first one wins, as in routing. */
  #put(path: string, item: Mapping): void {
    const before = this.paths[path];
    this.paths[path] = isMapping(before) ? { ...item, ...before } : item;
  }
}
