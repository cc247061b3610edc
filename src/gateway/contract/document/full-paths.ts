import { METHODS } from './operations.js';
import { isMapping, pointerName, type Mapping } from './references.js';
import { serverPaths } from './servers.js';

const REFERENCE = /("(?:\$ref|operationRef)":"#\/paths\/)([^"\\/]*)(?:\/([a-z]+))?(?=[/"])/g;

/**
 * Paths as clients ask for them, and without servers of their own, which generated clients don't read.
 * @param base of those that have none
 */
export class FullPaths {
  readonly paths: Mapping = {};
  /** Of `template`, and of `template method`. */
  readonly #moved = new Map<string, string>();

  constructor(paths: Mapping, base: string) {
    for (const [template, item] of Object.entries(paths)) {
      if (isMapping(item)) this.#add(template, item, base);
      else this.paths[template] = item;
    }
  }

  /** The document's text, with references to paths as they are now. */
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

  /** Of two operations the first one counts, as it does for requests. */
  #put(path: string, item: Mapping): void {
    const before = this.paths[path];
    this.paths[path] = isMapping(before) ? { ...item, ...before } : item;
  }
}
