import type { z } from 'zod';
import type { SourceLocation, Problem } from './problem.js';
import type { Path } from './yaml-file.js';

type Issue = z.core.$ZodIssue;

/** What `problemsOf` needs to know about the checked value. */
interface Checked {
  /** Where `path` is set; if it is not set, where its parent is. */
  location(path: Path, part: 'key' | 'value'): SourceLocation;
  /** Whether a file, variable or default sets `path`. */
  says(path: Path): boolean;
}

/**
 * Converts zod's issues to problems with a place, in the order of the file. Never shows a value: it may be a secret.
 */
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
    const [branch, ...others] = closestBranches(issue.errors);
    if (branch !== undefined && others.length === 0)
      return branch.flatMap((one) => problemsOfIssue(one, path, checked));
    const unknown = unknownKeys(branch ?? []).filter((key) =>
      others.every((other) => unknownKeys(other).includes(key)),
    );
    if (unknown.length > 0)
      return unknown.map((key) => problem([...path, key], 'key', `unknown key; ${issue.message}`, checked));
  }
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => problem(path, 'key', message, checked));
  const missing = checked.says(path) ? '' : 'missing; ';
  return [problem(path, 'value', missing + issue.message, checked)];
}

/**
 * Returns the branches of a union that fit the value's shape (they report something inside it, or unknown keys) and
 * know most of its keys. Of `{ header: … } | { json: … }`, `{ header: 5 }` is closest to the first, `{}` and
 * `{ jsn: … }` are as close to both, and `5` is close to neither.
 */
function closestBranches(branches: readonly (readonly Issue[])[]): readonly (readonly Issue[])[] {
  const fitting = branches.filter((issues) =>
    issues.some(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'),
  );
  const fewest = Math.min(...fitting.map((issues) => unknownKeys(issues).length));
  return fitting.filter((issues) => unknownKeys(issues).length === fewest);
}

function unknownKeys(issues: readonly Issue[]): readonly string[] {
  return issues.flatMap((issue) => (issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : []));
}

function problem(path: Path, part: 'key' | 'value', message: string, checked: Checked): Problem {
  return { ...checked.location(path, part), path: path.map(shown).join('.'), message };
}

/** Masks a key that looks like an address: a misplaced colon can turn an address with its password into a key. */
function shown(key: PropertyKey): string {
  const name = String(key);
  return /@|:\/\//.test(name) ? '***' : name;
}
