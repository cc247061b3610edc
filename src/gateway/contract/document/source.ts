import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { displayName, readText, readYaml, type YamlFile } from '../../config/files/yaml-file.js';
import { ConfigError } from '../../config/files/problem.js';
import { createLocate, duplicateName, lineAndColumn } from './json.js';

/** Names the bytes of YAML that a JSON form was made of. */
const SOURCE = 'x-petgate-source';

/**
 * The contract. An `openapi.json` made of the very bytes of `openapi.yaml` is read instead: parsing so much YAML takes
 * a quarter of the time in which a gateway starts.
 * @throws ConfigError with every syntax problem, or why the file can't be read
 */
export function readContract(path: string): YamlFile {
  const value = jsonForm(path);
  if (value === undefined) return readDocument(path);
  let yaml: YamlFile | undefined;
  return {
    file: displayName(path),
    value,
    locate: (wanted, part) => (yaml ??= readYaml(path, 'allowed')).locate(wanted, part),
  };
}

/** A file of JSON or YAML. Throws ConfigError as `readContract` does. */
export function readDocument(path: string): YamlFile {
  const file = displayName(path);
  const text = readText(path, file);
  const value = parseJson(text);
  if (value !== undefined) {
    const twice = duplicateName(text);
    if (twice === null) return { file, value, locate: createLocate(text, file) };
    const message = `${JSON.stringify(twice.name)} is here twice; keep one`;
    throw new ConfigError([{ file, ...lineAndColumn(text, twice.at), path: twice.name, message }]);
  }
  const yaml = readYaml(path, 'allowed');
  // Every alias becomes a value of its own, so that what changes in one place changes there alone.
  return { ...yaml, value: JSON.parse(JSON.stringify(yaml.value)) as unknown };
}

/** Undefined for what is no JSON object: YAML finds the place of a mistake in JSON too. */
function parseJson(text: string): unknown {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What must stand in the JSON form of this contract. */
export function renderJson(path: string): string {
  const { value } = readYaml(path, 'allowed');
  const text = JSON.stringify({ [SOURCE]: sourceOf(path), ...(value as object) }, null, 2);
  // One byte a character: otherwise V8 would give every name and header that is cut from it two.
  return `${text.replace(/[^\0-\x7f]/g, escaped)}\n`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export function jsonPath(path: string): string {
  return path.replace(/\.ya?ml$/, '.json');
}

/** Undefined where there is none, or it is of other bytes. */
function jsonForm(path: string): object | undefined {
  if (jsonPath(path) === path) return undefined;
  try {
    const { [SOURCE]: source, ...value } = JSON.parse(readFileSync(jsonPath(path), 'latin1')) as Record<
      string,
      unknown
    >;
    return source === sourceOf(path) ? value : undefined;
  } catch {
    return undefined;
  }
}

function sourceOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
