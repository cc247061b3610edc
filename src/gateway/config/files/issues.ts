import type { z } from 'zod';
import type { SourceLocation, Problem } from './problem.js';
import type { Path } from './yaml-file.js';

type Issue = z.core.$ZodIssue;

/** What `problemsOf` must know of the checked value. */
interface Checked {
  /** The place of `path`; of what holds it when nobody says it. */
  location(path: Path, part: 'key' | 'value'): SourceLocation;
  /** True when somebody says `path`. */
  says(path: Path): boolean;
}

/** Turns zod's issues into problems with a place, in the order of the file. Never shows a value: it may be a secret. */
export function problemsOf(issues: readonly Issue[], checked: Checked): Problem[] {
  const problems = issues.flatMap((issue) => problemsOfIssue(issue, [], checked));
  return problems.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column);
}

function problemsOfIssue(issue: Issue, above: Path, checked: Checked): Problem[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    const messages = issue.message.split('\n');
    return issue.keys.map((key, n) => problem([...path, key], 'key', messages[n]!, checked));
  }
  if (issue.code === 'invalid_union') {
    const deepest = deepestBranch(issue.errors);
    if (deepest !== undefined) return deepest.flatMap((inner) => problemsOfIssue(inner, path, checked));
  }
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => problem(path, 'key', message, checked));
  const missing = checked.says(path) ? '' : 'missing; ';
  return [problem(path, 'value', missing + issue.message, checked)];
}

/** Of a union's branches the one that fits the value's shape: it complains of something inside, or of keys. */
function deepestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return branches.find((issues) => issues.some(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'));
}

function problem(path: Path, part: 'key' | 'value', message: string, checked: Checked): Problem {
  return { ...checked.location(path, part), path: path.map(shown).join('.'), message };
}

/** A slip of punctuation can turn an address with its password into a key. */
function shown(key: PropertyKey): string {
  const name = String(key);
  return /@|:\/\//.test(name) ? '***' : name;
}
