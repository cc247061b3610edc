import { dirname, resolve } from 'node:path';
import { locationOf, readEnvironment } from './environment.js';
import { isMapping } from '../../../shared/mapping.js';
import { ConfigError, type Problem, type SourceLocation } from './problem.js';
import { parseYaml, readYaml, type Path, type YamlFile } from './yaml-file.js';

/** One source of values: a file, an environment variable, or the defaults. */
export interface Layer {
  readonly value: unknown;
  /** The folder that its relative paths are relative to. */
  readonly folder: string;
  /** True for an environment variable. */
  readonly isVariable?: boolean;
  /** Absolute path; only for a file. */
  readonly path?: string;
  locate(path: Path, part: 'key' | 'value'): SourceLocation | undefined;
}

/** Merged layers, the first on top; at least one is a file. */
export interface Layers {
  readonly value: unknown;
  /** The lowest file. */
  readonly base: Layer;
  /** Paths of the files, the topmost first. */
  readonly files: readonly string[];
  /** Returns the topmost layer that sets `path`; undefined if none does. */
  decides(path: Path): Layer | undefined;
  /** Returns where `path` is set; if it is not set, where its parent is. */
  location(path: Path, part: 'key' | 'value'): SourceLocation;
}

/**
 * Merges layers, the first on top: mappings key by key; anything else, including lists, is taken whole from the upper
 * layer.
 */
export function layOver(layers: readonly Layer[]): Layers {
  const decides = (path: Path): Layer | undefined => layers.find((layer) => layer.locate(path, 'value') !== undefined);
  const files = layers.filter((layer) => layer.locate([], 'value')!.line > 0);
  const base = files.at(-1)!;
  // A missing setting is reported in a file, where it can be added, unless only variables set its parent.
  const variables = layers.filter(({ isVariable }) => isVariable === true);
  const holder = (path: Path): SourceLocation => {
    const found = [...files, ...(path.length === 0 ? [] : variables)].find((layer) => layer.locate(path, 'key'));
    return found?.locate(path, 'key') ?? holder(path.slice(0, -1));
  };
  const location = (path: Path, part: 'key' | 'value'): SourceLocation =>
    decides(path)?.locate(path, part) ?? holder(path);
  return {
    value: layers.map(({ value }) => value).reduce(merge),
    base,
    files: files.flatMap(({ path }) => path ?? []),
    decides,
    location,
  };
}

/** Reads the file at `path`, which `key` of `from` names, and the files it extends, the nearest first. */
export function readChain(path: string, named: Layer | undefined, key: string): Layer[] {
  const chain: Layer[] = [];
  const seen = new Set<string>();
  let next: string | undefined = resolve(path);
  let [from, by] = [named, key];
  while (next !== undefined) {
    if (seen.has(next))
      throw refusedAt(from!, by, 'this file extends itself, over others or directly; break the circle');
    seen.add(next);
    const layer: Layer = readNamed(next, from, by);
    chain.push(layer);
    const base = (layer.value as { extends?: unknown }).extends;
    next = typeof base === 'string' ? resolve(layer.folder, base) : undefined;
    [from, by] = [layer, 'extends'];
  }
  return chain;
}

/** Reads a file that `key` of `from` names; if it cannot be read, the problem is reported at that key. */
export function readNamed(path: string, from: Layer | undefined, key: string): Layer {
  try {
    return fileLayer(readYaml(path, 'refused'), path);
  } catch (error) {
    const [first] = error instanceof ConfigError ? error.problems : [];
    if (first?.line !== 0 || from?.locate([key], 'value') === undefined) throw error;
    throw refusedAt(from, key, `${first.file}: ${first.message}`);
  }
}

/** Parses YAML that is not in a file. @param named its name in problems @throws ConfigError */
export function textLayer(text: string, named: string): Layer {
  return fileLayer(parseYaml(text, named, 'refused'), named);
}

/** Returns one layer per variable, so that each value is reported under the name of its variable. */
export function environmentLayers(environment: NodeJS.ProcessEnv): Layer[] {
  return readEnvironment(environment).map(({ name, path, value }) => {
    const tree = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
    return { ...plainLayer(tree, locationOf(name)), isVariable: true };
  });
}

/** Returns a layer for a value that is not in a file. */
export function plainLayer(value: unknown, location: SourceLocation): Layer {
  return { value, folder: process.cwd(), locate: (path) => (at(value, path) === undefined ? undefined : location) };
}

/** Returns the value at `path` of a tree; undefined if there is none. */
export function at(tree: unknown, path: Path): unknown {
  let value = tree;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** Returns a problem of the value at `path`. */
export function problemAt(layers: Layers, path: readonly string[], message: string): Problem {
  return { ...layers.location(path, 'value'), path: path.join('.'), message };
}

/** Returns the absolute path that a setting contains, relative to the file that sets it; null if it is not set. */
export function pathAt(layers: Layers, setting: Path): string | null {
  const path = at(layers.value, setting);
  return typeof path === 'string' ? resolve((layers.decides(setting) ?? layers.base).folder, path) : null;
}

function fileLayer(file: YamlFile, path: string): Layer {
  return { value: file.value, folder: dirname(path), path, locate: (wanted, part) => file.locate(wanted, part) };
}

function refusedAt(layer: Layer, key: string, message: string): ConfigError {
  const location = layer.locate([key], 'value')!;
  return new ConfigError([{ ...location, path: location.line === 0 ? '' : key, message }]);
}

function merge(upper: unknown, lower: unknown): unknown {
  if (!isMapping(upper) || !isMapping(lower)) return upper;
  const merged = new Map(Object.entries(lower));
  for (const [key, value] of Object.entries(upper))
    merged.set(key, merged.has(key) ? merge(value, merged.get(key)) : value);
  return Object.fromEntries(merged);
}
