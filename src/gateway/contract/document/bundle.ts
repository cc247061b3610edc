import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { displayName } from '../../config/files/yaml-file.js';
import type { Findings } from './findings.js';
import { fileProblem } from '../../config/files/problem.js';
import type { Path } from '../../config/files/yaml-file.js';
import { ADDITIONAL, METHODS, POLICY } from './operations.js';
import { decoded, follow, isMapping, type Mapping } from './references.js';
import { readDocument } from './source.js';

/** The member of the document that holds the other files, by their path within its folder. */
export const FILES = 'x-files';
const ADDRESS = /^(?:[A-Za-z][A-Za-z0-9+.-]*:|\/\/)/;

/**
 * Copies the files that a document refers to into it, so that all references are internal. Never reads files outside
 * the document's folder or URLs: such references stay as they are.
 */
export function bundle(path: string, document: Mapping, findings: Findings): void {
  const root = realpathSync(path);
  const folder = dirname(root);
  const trees = new Map<string, unknown>([[root, document]]);
  const open = (file: string): string | null => {
    if (!existsSync(file)) return null;
    const real = realpathSync(file);
    if (!isInside(folder, real) || !statSync(real).isFile()) return null;
    if (!trees.has(real)) {
      findings.files.push(file);
      trees.set(real, readDocument(file).value);
    }
    return real;
  };
  // Also visits the files that are added during the loop.
  for (const [file, tree] of trees) {
    eachReference(tree, (node, reference) => {
      const [name = '', pointer = ''] = reference.split('#', 2);
      const target = name === '' ? file : open(resolve(dirname(file), decoded(name)));
      if (target !== null) node['$ref'] = `#${pointerTo(folder, root, target)}${pointer}`;
      else {
        const message = `${reference} is no file in this folder; it stays as it is`;
        findings.addWarning(fileProblem(displayName(file), message));
      }
    });
  }
  const others = [...trees].slice(1).map(([file, tree]) => [nameOf(folder, file), tree] as const);
  if (others.length > 0) document[FILES] = Object.fromEntries(others);
}

/** Replaces references in place of paths and operations with copies of what they refer to. */
export function inlinePaths(document: Mapping, findings: Findings): void {
  const { paths } = document;
  if (!isMapping(paths)) return;
  for (const template of Object.keys(paths)) {
    inline(paths, template, ['paths', template], 'path', document, findings);
    const item = paths[template];
    if (!isMapping(item)) continue;
    for (const method of METHODS) inline(item, method, ['paths', template, method], 'operation', document, findings);
    const more = item[ADDITIONAL];
    if (!isMapping(more)) continue;
    for (const method of Object.keys(more))
      inline(more, method, ['paths', template, ADDITIONAL, method], 'operation', document, findings);
  }
}

/** Members next to a reference override those of its target; in `x-petgate`, field by field. */
function inline(
  holder: Mapping,
  name: string,
  at: Path,
  what: 'path' | 'operation',
  document: Mapping,
  findings: Findings,
): void {
  const value = holder[name];
  if (!isMapping(value) || typeof value['$ref'] !== 'string') return;
  const found = follow(value, document);
  const { $ref: reference, ...own } = value;
  if (!isMapping(found)) {
    const message = `${reference} leads to no ${what}; only files in the folder of the document are read`;
    findings.problem([...at, '$ref'], 'value', message);
    Reflect.deleteProperty(holder, name);
    return;
  }
  const copy = { ...structuredClone(found), ...own };
  if (isMapping(found[POLICY]) && isMapping(own[POLICY])) copy[POLICY] = { ...found[POLICY], ...own[POLICY] };
  holder[name] = copy;
}

/** Calls `visit` for each reference within this file or to another one, but not to URLs. Safe for any nesting depth. */
function eachReference(tree: unknown, visit: (node: Mapping, reference: string) => void): void {
  const open: unknown[] = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const inner of Object.values(node as object))
      if (typeof inner === 'object' && inner !== null) open.push(inner);
    const reference = (node as Mapping)['$ref'];
    if (typeof reference === 'string' && !ADDRESS.test(reference)) visit(node as Mapping, reference);
  }
}

function isInside(folder: string, file: string): boolean {
  const name = relative(folder, file);
  return name !== '..' && !name.startsWith(`..${sep}`) && !isAbsolute(name);
}

function nameOf(folder: string, file: string): string {
  return relative(folder, file).replaceAll(sep, '/');
}

function pointerTo(folder: string, root: string, file: string): string {
  if (file === root) return '';
  return `/${FILES}/${encodeURI(nameOf(folder, file).replaceAll('~', '~0').replaceAll('/', '~1'))}`;
}
