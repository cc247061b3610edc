import { readFileSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import {
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
} from 'yaml';
import { markLong } from '../../../shared/text/exact-numbers.js';
import { ConfigError, fileProblem, type SourceLocation, type Problem } from './problem.js';

export type Path = readonly PropertyKey[];

/** A YAML file that was read and has no syntax errors. */
export interface YamlFile {
  /** Name for people: relative to the working directory if the file is below it. */
  readonly file: string;
  readonly value: unknown;
  /** Returns where `path` is: its value, or its key; undefined if the file does not set it. */
  readonly locate: (path: Path, part: 'key' | 'value') => SourceLocation | undefined;
}

/** Messages for common mistakes. The parser's own messages quote the file, which may contain a password. */
const SYNTAX = new Map<string, string>([
  ['DUPLICATE_KEY', 'this key is here twice; keep one'],
  ['TAB_AS_INDENT', 'a tab indents this line; use spaces'],
  ['BAD_INDENT', 'the indentation does not fit the lines above; align it with its neighbours'],
  ['BAD_ALIAS', 'an alias with no anchor before it; write the value itself'],
  ['MULTIPLE_DOCS', 'a second document begins here; keep one document per file'],
  ['MISSING_CHAR', 'a closing quote or bracket, a colon or a comma is missing near here'],
  ['BAD_SCALAR_START', 'a plain value cannot start with this character; put the value in quotes'],
  ['TAG_RESOLVE_FAILED', 'unknown tag; write the plain value'],
  ['NON_STRING_KEY', 'a key must be plain text'],
]);

/**
 * Reads one YAML 1.2 file.
 * @param aliases whether `&anchor` and `*alias` are allowed; where nobody needs them, they only enable alias bombs
 * @throws ConfigError with every syntax problem, or why the file can't be read
 */
export function readYaml(path: string, aliases: 'allowed' | 'refused'): YamlFile {
  const file = displayName(path);
  return parseYaml(readText(path, file), file, aliases);
}

/** Parses text like `readYaml`. @param file its name in problems */
export function parseYaml(text: string, file: string, aliases: 'allowed' | 'refused'): YamlFile {
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, stringKeys: true, merge: aliases === 'allowed' };
  const document = parseDocument(text, options);
  const location = (offset: number): SourceLocation => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  const problems = syntaxProblems(document, aliases, location);
  if (problems.length > 0) throw new ConfigError(problems);
  const value = toValue(document, file);
  return {
    file,
    value,
    locate: (wanted, part) => {
      const offset = offsetOf(document, wanted, part);
      return offset === undefined ? undefined : location(offset);
    },
  };
}

/** Returns the first problem of each line: the others on a line mostly follow from it. */
function syntaxProblems(
  document: Document.Parsed,
  aliases: 'allowed' | 'refused',
  location: (offset: number) => SourceLocation,
): Problem[] {
  const byLine = new Map<number, Problem>();
  const report = (offset: number, message: string): void => {
    const at = location(offset);
    if (!byLine.has(at.line)) byLine.set(at.line, { ...at, path: '', message });
  };
  for (const { code, pos } of [...document.errors, ...document.warnings])
    report(pos[0], SYNTAX.get(code) ?? `no valid YAML here (${code})`);
  visit(document, {
    Alias: (_key, node, holders) => {
      if (aliases === 'refused') report(node.range![0], 'aliases are not used here; write the value itself');
      else if (holders.some((holder) => holderOf(holder, node.source) && holder === node.resolve(document)))
        report(
          node.range![0],
          `*${node.source} is used inside &${node.source}, which never ends; write the value itself`,
        );
    },
    Pair: (_key, { key, value }, holders) => {
      // A version is text: 1.10 is not 1.1.
      if (isVersion(key, holders) && isScalar(value) && typeof value.value === 'number') value.value = value.source;
      if (isScalar(key) && key.value === '__proto__') report(key.range![0], 'no name for anything here; remove it');
    },
    Scalar: (_key, node) => {
      if (typeof node.value === 'string') node.value = narrow(node.value);
      else if (aliases === 'allowed' && typeof node.value === 'number')
        node.value = markLong(node.source ?? '') ?? node.value;
    },
  });
  return [...byLine.values()];
}

function holderOf(node: unknown, anchor: string): boolean {
  return (isMap(node) || isSeq(node)) && node.anchor === anchor;
}

/** Returns whether this is the key of `info.version`. */
function isVersion(key: unknown, [, , info, , more]: readonly unknown[]): boolean {
  if (!isScalar(key) || key.value !== 'version' || more !== undefined || !isPair(info)) return false;
  return isScalar(info.key) && info.key.value === 'info';
}

/**
 * Returns the same text, stored with one byte per character if possible. If any character of a file needs two bytes, V8
 * stores every piece of the file with two bytes per character, and also every header and log line that contains such a
 * piece: writing an access log line then costs twice as much.
 */
function narrow(text: string): string {
  const narrowed = Buffer.from(text, 'latin1').toString('latin1');
  return narrowed === text ? narrowed : text;
}

/** Reads a UTF-8 file. Throws ConfigError. */
export function readText(path: string, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = new Map([
      ['ENOENT', 'no such file; put it there, or correct the path'],
      ['EISDIR', 'this is a folder; name a file'],
      ['EACCES', 'no permission to read it'],
      ['ERR_ENCODING_INVALID_ENCODED_DATA', 'not UTF-8; save it as UTF-8'],
    ]);
    const message = why.get(code ?? '') ?? `cannot be read (${code ?? 'unknown reason'})`;
    throw new ConfigError([fileProblem(file, message)]);
  }
}

function toValue(document: Document, file: string): unknown {
  const fail = (message: string): never => {
    throw new ConfigError([{ file, line: 1, column: 1, path: '', message }]);
  };
  if (!isMap(document.contents)) {
    // An empty file is refused: a truncated file must not silently mean "all defaults".
    if (document.contents === null || (isScalar(document.contents) && document.contents.value === null))
      return fail('the file is empty; write {} to run on the defaults');
    return fail('the file must be a mapping: lines of `name: value`');
  }
  try {
    return document.toJS();
  } catch {
    return fail('aliases here multiply without bound or contain themselves; write the values out');
  }
}

function offsetOf(document: Document, path: Path, part: 'key' | 'value'): number | undefined {
  let node: unknown = document.contents;
  let keyOffset: number | undefined;
  for (const segment of path) {
    if (isAlias(node)) node = node.resolve(document);
    keyOffset = undefined;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === segment);
      if (pair === undefined) return undefined;
      keyOffset = isNode(pair.key) ? pair.key.range?.[0] : undefined;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(segment)];
      if (node === undefined) return undefined;
    } else {
      return undefined;
    }
  }
  const valueOffset = isNode(node) ? node.range?.[0] : undefined;
  return part === 'key' ? (keyOffset ?? valueOffset) : (valueOffset ?? keyOffset);
}

/** Returns the file's name for people. */
export function displayName(path: string): string {
  const near = relative(process.cwd(), path);
  return near === '' || near.startsWith('..') || isAbsolute(near) ? path : near;
}
