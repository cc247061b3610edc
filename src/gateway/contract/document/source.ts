import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseExact, stringifyExact } from '../../../shared/text/exact-numbers.js';
import { displayName, readText, readYaml, type YamlFile } from '../../config/files/yaml-file.js';
import { ConfigError } from '../../config/files/problem.js';
import { createLocate, duplicateName, lineAndColumn } from './json.js';

/** The member with the SHA-256 of the YAML file that a JSON form was made from. */
const SOURCE = 'x-petgate-source';

/**
 * Reads the contract. An `openapi.json` made from exactly these bytes of `openapi.yaml` is read instead: parsing that
 * much YAML takes a quarter of a gateway's start time.
 * @throws ConfigError with every syntax problem, or why the file cannot be read
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

/** Reads a JSON or YAML file. Throws ConfigError like `readContract`. */
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
  // Every alias becomes a separate copy, so that a change in one place does not affect the others.
  return { ...yaml, value: JSON.parse(JSON.stringify(yaml.value)) as unknown };
}

/** Returns undefined for anything but a JSON object. The YAML parser then locates the mistake, even in JSON. */
function parseJson(text: string): unknown {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Renders the JSON form of this contract. */
export function renderJson(path: string): string {
  const { value } = readYaml(path, 'allowed');
  const text = stringifyExact({ [SOURCE]: sourceOf(path), ...(value as object) }, undefined, 2);
  // One byte per character: otherwise V8 would use two for every name and header cut from it.
  return `${text.replace(/[^\0-\x7f]/g, escaped)}\n`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export function jsonPath(path: string): string {
  return path.replace(/\.ya?ml$/, '.json');
}

/** Returns undefined if there is no JSON form, or it was made from other bytes. */
function jsonForm(path: string): object | undefined {
  if (jsonPath(path) === path) return undefined;
  try {
    const json = readFileSync(jsonPath(path), 'latin1');
    const { [SOURCE]: source, ...value } = parseExact(json) as Record<string, unknown>;
    return source === sourceOf(path) ? value : undefined;
  } catch {
    return undefined;
  }
}

function sourceOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
