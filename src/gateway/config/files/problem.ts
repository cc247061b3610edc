/** Where a value stands. `line` and `column` count from 1; both are 0 for what is no file (environment, default). */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One thing to put right. `path` is the key within the file (`listen.port`), empty for the file itself. */
export interface Problem extends SourceLocation {
  readonly path: string;
  readonly message: string;
}

/** The configuration (or the contract) can't be used; `problems` holds everything that is wrong with it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];
  /** Files that were read, and may be put right. */
  readonly files: readonly string[];

  constructor(problems: readonly Problem[], files: readonly string[] = []) {
    super(problems.map(renderProblem).join('\n'));
    this.problems = problems;
    this.files = files;
  }
}

/** For the terminal: a line per problem, then how many there are. */
export function renderProblems(error: ConfigError): string {
  const count = error.problems.length;
  return `${error.message}\n${count} ${count === 1 ? 'problem' : 'problems'}, nothing was started or changed.`;
}

/** `config/gateway.yaml:12`, or the name alone of what has no lines. */
export function renderLocation(location: SourceLocation): string {
  return location.line === 0 ? location.file : `${location.file}:${location.line}`;
}

/** `config/gateway.yaml:12:3: listen.port: …` */
export function renderProblem(problem: Problem): string {
  const column = problem.line === 0 ? '' : `:${problem.column}`;
  const path = problem.path === '' ? '' : `${problem.path}: `;
  return `${renderLocation(problem)}${column}: ${path}${problem.message}`;
}
