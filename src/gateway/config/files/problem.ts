/** Where a value is. `line` and `column` count from 1; both are 0 if it is not in a file (environment, default). */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One error to fix. `path` is the key within the file (`listen.port`), empty for the file itself. */
export interface Problem extends SourceLocation {
  readonly path: string;
  readonly message: string;
}

/** Returns a problem of a whole file, or of what is in none, such as a variable. */
export function fileProblem(file: string, message: string): Problem {
  return { file, line: 0, column: 0, path: '', message };
}

/** The configuration (or the contract) can't be used; `problems` lists everything wrong with it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];
  /** Files that were read; the errors may be fixed in any of them. */
  readonly files: readonly string[];

  constructor(problems: readonly Problem[], files: readonly string[] = []) {
    super(problems.map(renderProblem).join('\n'));
    this.problems = problems;
    this.files = files;
  }
}

/** Renders all problems for the terminal: one per line, then their number. */
export function renderProblems(error: ConfigError): string {
  const count = error.problems.length;
  return `${error.message}\n${count} ${count === 1 ? 'problem' : 'problems'}, nothing was started or changed.`;
}

/** Returns `config/gateway.yaml:12`, or only the name if there are no lines. */
export function renderLocation(location: SourceLocation): string {
  return location.line === 0 ? location.file : `${location.file}:${location.line}`;
}

/** Returns `config/gateway.yaml:12:3: listen.port: …`. */
export function renderProblem(problem: Problem): string {
  const column = problem.line === 0 ? '' : `:${problem.column}`;
  const path = problem.path === '' ? '' : `${problem.path}: `;
  return `${renderLocation(problem)}${column}: ${path}${problem.message}`;
}
