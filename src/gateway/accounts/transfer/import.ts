import type { Snapshot } from '../../store/records/record.js';
import { withRetry } from '../../store/records/retry.js';
import type { KeyStore, KeyRecord } from '../../store/records/key.js';
import type { Body } from '../fields.js';
import { readIncoming, sameKey, type ImportRules } from './line.js';

/** One line of the file, counted from 1: a JSON object, or why it is not one. */
export type ImportLine = { readonly line: number } & ({ readonly body: Body } | { readonly problem: string });

/** `unchanged`: keys that existed already and match the file. */
export interface ImportResult {
  readonly imported: number;
  readonly unchanged: number;
}

interface ImportParts {
  readonly store: KeyStore;
  readonly rules: ImportRules;
  readonly actor: string;
  /** Only reports what an import would do. */
  readonly check: boolean;
}

/** Some lines were not imported. `problems` name them, without quoting a hash. */
export class ImportRefused extends Error {
  override readonly name = 'ImportRefused';
  readonly result: ImportResult;
  readonly problems: readonly string[];

  constructor(result: ImportResult, problems: readonly string[]) {
    super(problems.join('\n'));
    this.result = result;
    this.problems = problems;
  }
}

/** Keys written in one step: few, so that requests get their turn in between and each call keeps its deadline. */
const PAGE = 100;
const MAX_PROBLEMS = 1_000;

/**
 * Imports the keys of `lines` as they arrive, a page at a time, so that memory stays small. A key that exists and
 * matches its line is left alone, so an interrupted import can be run again. A line that is invalid, or whose key
 * exists and differs, is refused; the others are imported.
 *
 * Rejects with ImportRefused if lines were refused, and with errors of the store.
 */
export async function importKeys(parts: ImportParts, lines: AsyncIterable<ImportLine>): Promise<ImportResult> {
  const run = new ImportRun(parts);
  await takeLines(lines, run);
  await run.writePage();
  const { imported, unchanged, problems } = run;
  if (problems.length > 0) throw new ImportRefused({ imported, unchanged }, problems);
  return { imported, unchanged };
}

/** Passes each line to `run`, until there are too many problems. */
export async function takeLines(
  lines: AsyncIterable<ImportLine>,
  run: { readonly problems: string[]; take(line: ImportLine): Promise<void> },
): Promise<void> {
  for await (const line of lines) {
    await run.take(line);
    if (run.problems.length < MAX_PROBLEMS) continue;
    run.problems.push(`too many problems: nothing was read beyond line ${line.line}`);
    return;
  }
}

class ImportRun implements ImportResult {
  readonly #parts: ImportParts;
  /** By ID: if two lines have the same ID, the first is written before the second is added. */
  #page = new Map<string, Snapshot<KeyRecord> & { readonly line: number }>();
  readonly problems: string[] = [];
  imported = 0;
  unchanged = 0;

  constructor(parts: ImportParts) {
    this.#parts = parts;
  }

  async take(given: ImportLine): Promise<void> {
    const { rules, actor } = this.#parts;
    const { line } = given;
    const read = 'problem' in given ? { problems: [given.problem] } : readIncoming(given.body, rules, actor);
    if ('problems' in read) {
      for (const problem of read.problems) this.#refuse(line, problem);
      return;
    }
    if (this.#page.size === PAGE || this.#page.has(read.record.id)) await this.writePage();
    this.#page.set(read.record.id, { ...read, line });
  }

  async writePage(): Promise<void> {
    const { store, check } = this.#parts;
    const page = [...this.#page.values()];
    this.#page = new Map();
    if (page.length === 0) return;
    const restored = check ? [] : await withRetry(() => store.restore(page));
    const rest = page.filter((_, index) => restored[index] !== 'added');
    this.imported += page.length - rest.length;
    const stored = await withRetry(() => Promise.all(rest.map(({ record }) => store.read(record.id))));
    rest.forEach(({ line, record }, index) => {
      const there = stored[index];
      if (there === undefined) this.imported += 1;
      else if (sameKey(record, there)) this.unchanged += 1;
      else this.#refuse(line, differs(record.id));
    });
  }

  #refuse(line: number, problem: string): void {
    this.problems.push(`line ${line}: ${problem}`);
  }
}

function differs(id: string): string {
  return `id: the key ${id} exists already and differs from this line; "petgate keys show ${id}" shows it`;
}
