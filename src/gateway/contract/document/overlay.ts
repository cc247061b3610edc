import { paths as pathsOf } from 'jsonpath-rfc9535';
import { z } from 'zod';
import { problemsOf } from '../../config/files/issues.js';
import { ConfigError, type Problem, type SourceLocation } from '../../config/files/problem.js';
import type { Path, YamlFile } from '../../config/files/yaml-file.js';
import type { Findings } from './findings.js';
import { isMapping, leaveOut, type Mapping } from './references.js';
import { readDocument } from './source.js';

const action = z.looseObject(
  {
    target: z.string({ error: "must be a JSONPath, such as $.paths['/pets'].get" }),
    update: z.unknown().optional(),
    remove: z.boolean({ error: 'must be true or false' }).optional(),
    copy: z.string({ error: "must be a JSONPath, such as $.paths['/pets'].get" }).optional(),
  },
  { error: 'must be a mapping of target, and update, copy or remove' },
);
type Action = z.output<typeof action>;

/** OpenAPI Overlay 1.0 and 1.1. */
const overlay = z.looseObject({
  overlay: z
    .string({ error: "must be the version of the overlay, '1.0.0' or '1.1.0'" })
    .regex(/^1\.[01]\.\d+$/, 'must be 1.0.0 or 1.1.0'),
  actions: z.array(action, { error: 'must list actions, each a target with update, copy or remove' }),
});

/** Where an overlay wrote, and the file and index of the action that did. */
interface Written {
  readonly at: Path;
  readonly file: YamlFile;
  readonly index: number;
}

/** Applies the overlays in order. From then on, `findings` locates what they wrote in their files. */
export function applyOverlays(document: Mapping, files: readonly string[], findings: Findings): void {
  const written: Written[] = [];
  for (const path of files) {
    findings.files.push(path);
    const file = readDocument(path);
    readActions(file).forEach((each, index) => {
      for (const at of applyAction(document, each, file, index, findings)) written.unshift({ at, file, index });
    });
  }
  const { locate } = findings;
  findings.locate = (path, part) => locateIn(written, path, part) ?? locate(path, part);
}

function readActions(file: YamlFile): readonly Action[] {
  const parsed = overlay.safeParse(file.value);
  if (parsed.success) return parsed.data.actions;
  throw new ConfigError(
    problemsOf(parsed.error.issues, {
      location: (path, part) => locationIn(file, path, part),
      says: (path) => file.locate(path, 'value') !== undefined,
    }),
  );
}

/** Applies one action and returns the paths it wrote to. */
function applyAction(
  document: Mapping,
  { target, update, copy, remove }: Action,
  file: YamlFile,
  index: number,
  findings: Findings,
): readonly Path[] {
  const problemAt = (name: string, message: string): Problem => {
    const location = locationIn(file, ['actions', index, name], 'value');
    return { ...location, path: `actions.${index}.${name}`, message };
  };
  const refuse = (name: string, message: string): readonly Path[] => {
    findings.addProblems([problemAt(name, message)]);
    return [];
  };
  const found = findTargets(document, target);
  if (typeof found === 'string') return refuse('target', `no JSONPath of RFC 9535: ${found}`);
  if (found.length === 0) findings.addWarning(problemAt('target', `${target} matches nothing`));
  if (remove === true) {
    if (found.some((path) => path.length === 0)) return refuse('target', 'the whole document can not be removed');
    // From the end, so that removing a list member does not shift those still to be removed.
    for (const path of [...found].reverse()) removeAt(document, path);
    return [];
  }
  const field = update === undefined ? 'copy' : 'update';
  if (update === undefined && copy === undefined)
    return refuse('target', 'this action does nothing; give it update, copy, or remove: true');
  const source = update === undefined ? onlyValueAt(document, copy!) : { value: update };
  if (typeof source === 'string') return refuse('copy', source);
  for (const path of found) {
    if (put(document, path, source.value, field === 'copy')) continue;
    return refuse(field, `${target} and this ${field} must be a mapping both, or the target a list`);
  }
  return found;
}

/** Returns a copy of the one value that `copy` selects, or why there is none. */
function onlyValueAt(document: Mapping, path: string): { readonly value: unknown } | string {
  const found = findTargets(document, path);
  if (typeof found === 'string') return `no JSONPath of RFC 9535: ${found}`;
  if (found.length !== 1)
    return `${path} matches ${found.length === 0 ? 'nothing' : `${found.length} places`}; name one`;
  return { value: structuredClone(valueAt(document, found[0]!)) };
}

/**
 * Merges into a mapping, appends to a list (`copy` of a list: its members), replaces anything else. Returns false if
 * the two values do not fit together.
 */
function put(document: Mapping, path: Path, update: unknown, isCopy: boolean): boolean {
  const value = valueAt(document, path);
  if (Array.isArray(value)) {
    const members: readonly unknown[] = isCopy && Array.isArray(update) ? update : [update];
    value.push(...(structuredClone(members) as unknown[]));
    return true;
  }
  if (isMapping(value)) {
    if (!isMapping(update)) return false;
    merge(value, update);
    return true;
  }
  const holder = valueAt(document, path.slice(0, -1)) as Record<PropertyKey, unknown>;
  if (path.length === 0 || typeof update === 'object') return false;
  holder[path.at(-1)!] = update;
  return true;
}

/** Returns the paths that a JSONPath selects, or why it is not valid. */
function findTargets(document: Mapping, target: string): readonly Path[] | string {
  try {
    return pathsOf(document as Parameters<typeof pathsOf>[0], target).map(pathIn);
  } catch (error) {
    return (error as Error).message;
  }
}

/** Parses a normalized path (RFC 9535 §2.7): `$['paths']['/pets'][0]`. */
function pathIn(normalized: string): Path {
  return [...normalized.matchAll(/\[(?:(\d+)|'((?:[^'\\]|\\.)*)')\]/g)].map(([, index, name = '']) =>
    index === undefined ? unquoted(name) : Number(index),
  );
}

/** Unescapes a name in a normalized path: its escapes are those of JSON, except for quotes. */
function unquoted(name: string): string {
  const json = name.replace(/\\'|"/g, (quote) => (quote === '"' ? '\\"' : "'"));
  return JSON.parse(`"${json}"`) as string;
}

function valueAt(document: Mapping, path: Path): unknown {
  return path.reduce<unknown>((value, name) => (value as Record<PropertyKey, unknown> | undefined)?.[name], document);
}

function removeAt(document: Mapping, path: Path): void {
  const holder = valueAt(document, path.slice(0, -1));
  const name = path.at(-1)!;
  if (Array.isArray(holder)) holder.splice(Number(name), 1);
  else if (isMapping(holder)) leaveOut(holder, String(name));
}

/** Merges mappings member by member, appends to lists, and replaces anything else. */
function merge(into: Mapping, update: Mapping): void {
  for (const [name, value] of Object.entries(update)) {
    const before = Object.hasOwn(into, name) ? into[name] : undefined;
    if (isMapping(before) && isMapping(value)) merge(before, value);
    else if (Array.isArray(before) && Array.isArray(value)) before.push(...(structuredClone(value) as unknown[]));
    else Object.defineProperty(into, name, { ...PLAIN, value: structuredClone(value) });
  }
}

/** For `defineProperty`, which makes `__proto__` an ordinary member. */
const PLAIN = { configurable: true, enumerable: true, writable: true };

function locateIn(written: readonly Written[], path: Path, part: 'key' | 'value'): SourceLocation | undefined {
  for (const { at, file, index } of written) {
    if (path.length <= at.length || at.some((name, n) => name !== path[n])) continue;
    const location = file.locate(['actions', index, 'update', ...path.slice(at.length)], part);
    if (location !== undefined) return location;
  }
  return undefined;
}

function locationIn(file: YamlFile, path: Path, part: 'key' | 'value'): SourceLocation {
  return file.locate(path, part) ?? locationIn(file, path.slice(0, -1), 'key');
}
