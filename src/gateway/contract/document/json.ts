import type { SourceLocation } from '../../config/files/problem.js';
import type { YamlFile } from '../../config/files/yaml-file.js';

/** A member of an object or list: the offsets of its name and of its value. */
type Member = readonly [keyAt: number, valueAt: number];

/**
 * Returns a function that locates paths in a valid JSON text. It searches only when called: each object on the way is
 * scanned once, and values next to the path are skipped.
 */
export function createLocate(text: string, file: string): YamlFile['locate'] {
  const known = new Map<number, ReadonlyMap<string, Member>>();
  let lineStarts: readonly number[] | undefined;
  const membersAt = (at: number): ReadonlyMap<string, Member> => {
    let members = known.get(at);
    if (members === undefined) known.set(at, (members = new Map(membersOf(text, at))));
    return members;
  };
  const location = (offset: number): SourceLocation => {
    lineStarts ??= lineStartsOf(text);
    const line = lineStarts.findLastIndex((start) => start <= offset);
    return { file, line: line + 1, column: offset - lineStarts[line]! + 1 };
  };
  return (path, part) => {
    const start = blanksEnd(text, 0);
    let member: Member = [start, start];
    for (const name of path) {
      const next = membersAt(member[1]).get(String(name));
      if (next === undefined) return undefined;
      member = next;
    }
    return location(part === 'key' ? member[0] : member[1]);
  };
}

/**
 * Returns the first name that occurs twice in its object, and the offset of the second one; null if there is none.
 * JSON.parse keeps the last value, other parsers the first. The text must be valid JSON.
 */
export function duplicateName(text: string): { readonly name: string; readonly at: number } | null {
  const open: (Set<string> | null)[] = [];
  for (let at = blanksEnd(text, 0); at < text.length; at += 1) {
    const character = text[at];
    if (character === '{') open.push(new Set());
    else if (character === '[') open.push(null);
    else if (character === '}' || character === ']') open.pop();
    else if (character === '"') {
      const end = stringEnd(text, at);
      const names = open.at(-1);
      if (names !== null && names !== undefined && text[blanksEnd(text, end)] === ':') {
        const name = JSON.parse(text.slice(at, end)) as string;
        if (names.has(name)) return { name, at };
        names.add(name);
      }
      at = end - 1;
    }
  }
  return null;
}

/** Converts an offset to line and column, counted from 1. */
export function lineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

function* membersOf(text: string, start: number): Generator<readonly [string, Member]> {
  const isList = text[start] === '[';
  if (!isList && text[start] !== '{') return;
  let at = blanksEnd(text, start + 1);
  for (let index = 0; text[at] !== ']' && text[at] !== '}'; index += 1) {
    const keyAt = at;
    if (!isList) at = blanksEnd(text, blanksEnd(text, stringEnd(text, at)) + 1);
    const name = isList ? String(index) : (JSON.parse(text.slice(keyAt, stringEnd(text, keyAt))) as string);
    yield [name, [keyAt, at]];
    at = blanksEnd(text, valueEnd(text, at));
    if (text[at] === ',') at = blanksEnd(text, at + 1);
  }
}

/** Returns the offset after the value that begins at `start`. */
function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; ; at += 1) {
    const character = text[at];
    if (character === '"') at = stringEnd(text, at) - 1;
    else if (character === '{' || character === '[') depth += 1;
    else if ((character === '}' || character === ']') && --depth < 0) return at;
    else if (character === ',' && depth === 0) return at;
    if (depth === 0 && (character === '"' || character === '}' || character === ']')) return at + 1;
  }
}

/** Returns the offset after the string that begins at `start`. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; ; at += 1) {
    at = text.indexOf('"', at);
    let first = at;
    while (text[first - 1] === '\\') first -= 1;
    if ((at - first) % 2 === 0) return at + 1;
  }
}

function blanksEnd(text: string, start: number): number {
  let at = start;
  while (' \n\r\t'.includes(text[at] ?? '.')) at += 1;
  return at;
}

function lineStartsOf(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
