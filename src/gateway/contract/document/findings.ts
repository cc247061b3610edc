import { ConfigError, renderProblem, type Problem, type SourceLocation } from '../../config/files/problem.js';
import type { Path, YamlFile } from '../../config/files/yaml-file.js';

/** Reports a finding about the value at `path` of the document; `key`: about its name. */
export type Report = (path: Path, part: 'key' | 'value', message: string) => void;

/** Collects the problems and the warnings of a contract. */
export class Findings {
  readonly #problems: Problem[] = [];
  readonly #warnings: Problem[] = [];
  /** Every file that was read, so that a correction in any of them is noticed. */
  readonly files: string[] = [];
  locate: YamlFile['locate'] = () => undefined;

  readonly problem: Report = (path, part, message) => void this.#problems.push(this.#at(path, part, message));

  readonly warning: Report = (path, part, message) => void this.#warnings.push(this.#at(path, part, message));

  addProblems(problems: readonly Problem[]): void {
    this.#problems.push(...problems);
  }

  /** Adds a warning about a file other than the document. */
  addWarning(warning: Problem): void {
    this.#warnings.push(warning);
  }

  /** Returns the warnings, one line each. Throws ConfigError if there are problems. */
  end(): readonly string[] {
    const problems = [...new Map(this.#problems.map((problem) => [renderProblem(problem), problem])).values()];
    if (problems.length > 0) throw new ConfigError(problems, this.files);
    return [...new Set(this.#warnings.map(renderProblem))];
  }

  /** Returns the location of `path`, or of the nearest member above it that the document has. */
  location(path: Path, part: 'key' | 'value'): SourceLocation {
    const location = this.locate(path, part);
    if (location !== undefined) return location;
    return path.length === 0
      ? { file: this.files[0] ?? '', line: 1, column: 1 }
      : this.location(path.slice(0, -1), 'key');
  }

  #at(path: Path, part: 'key' | 'value', message: string): Problem {
    return { ...this.location(path, part), path: path.map(String).join('.'), message };
  }
}
