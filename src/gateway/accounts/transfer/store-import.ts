import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { AdmissionEngine } from '../../store/port.js';
import type { AdminToken } from '../../store/records/admin-token.js';
import type { RecordStore, Restored, Snapshot, StoredRecord } from '../../store/records/record.js';
import { withRetry } from '../../store/records/retry.js';
import { ImportRefused, takeLines, type ImportLine } from './import.js';
import { addLine, customerIn, keyIn, noSums, readStored, type StoredLine, type Sums } from './stored.js';

/** Written in one step: few, so that requests get their turn in between. */
const RECORDS_AT_ONCE = 50;
const ROWS_AT_ONCE = 250;

const NOT_AN_EXPORT =
  'an export begins with a line of kind "store": this file is not an export, or its beginning is missing';

/**
 * Imports the lines of an export as they arrive. Records that are equal or newer here stay, and the larger of two
 * counts is kept, so an interrupted import can be run again. Rejects with ImportRefused, which names what would
 * overwrite a different record, and with errors of the store.
 */
export async function importStore(engine: AdmissionEngine, lines: AsyncIterable<ImportLine>) {
  const run = new StoreRun(engine);
  await takeLines(lines, run);
  await run.write();
  return run.result();
}

interface Waiting {
  readonly line: number;
  readonly stored: StoredLine;
}

class StoreRun {
  readonly problems: string[] = [];
  readonly #engine: AdmissionEngine;
  readonly #sums: Record<keyof Sums, number> = noSums();
  readonly #counts = { added: 0, changed: 0, unchanged: 0, newer: 0, raised: 0 };
  /** IDs of a different record here: the file's usage for them is not imported. */
  readonly #different = new Set<string>();
  /** Lines of one kind that are not written yet. */
  #page: Waiting[] = [];
  #size = 0;
  #hasBegun = false;
  #end: Sums | null = null;

  constructor(engine: AdmissionEngine) {
    this.#engine = engine;
  }

  async take(given: ImportLine): Promise<void> {
    const stored = 'problem' in given ? given.problem : readStored(given.body);
    if (typeof stored === 'string') {
      this.#refuse(given.line, stored);
      return;
    }
    const { kind } = stored;
    if (!this.#hasBegun && kind !== 'store') throw new ImportRefused({ imported: 0, unchanged: 0 }, [NOT_AN_EXPORT]);
    this.#hasBegun = true;
    if (this.#page.length > 0 && this.#page[0]!.stored.kind !== kind) await this.write();
    if (kind === 'end') this.#end = stored.sums;
    else if (kind === 'store') await this.#bind(stored.archive);
    else {
      this.#page.push({ line: given.line, stored });
      this.#size += sizeOf(stored);
      addLine(this.#sums, kind, kind === 'key' ? stored.usage : kind === 'usage' ? stored.rows : []);
      if (this.#page.length === RECORDS_AT_ONCE || this.#size >= ROWS_AT_ONCE) await this.write();
    }
  }

  async write(): Promise<void> {
    const page = this.#page;
    [this.#page, this.#size] = [[], 0];
    const { customers, keys } = this.#engine;
    const of = <K extends StoredLine['kind']>(kind: K) =>
      page.flatMap(({ stored }) => (stored.kind === kind ? [stored as Extract<StoredLine, { kind: K }>] : []));
    await this.#restore(page, customers, of('customer').map(customerIn));
    await this.#restore(page, keys, of('key').map(keyIn));
    const rows = of('usage').flatMap((each) => each.rows);
    const own = rows.filter(({ key }) => !this.#different.has(key));
    if (own.length > 0) this.#counts.raised += await withRetry(() => this.#engine.transfer.raise(own));
    for (const { line, stored } of page) if (stored.kind === 'token') await this.#putToken(line, stored.token);
    await nextTurn();
  }

  /** Returns the counts of customers, keys and tokens by result, of ledger rows updated, and the sums of the file. */
  result() {
    const { problems } = this;
    if (problems.length === 0 && !isDeepStrictEqual(this.#end, this.#sums)) problems.push(this.#endProblem());
    const { added, changed, unchanged, newer } = this.#counts;
    if (problems.length > 0)
      throw new ImportRefused({ imported: added + changed, unchanged: unchanged + newer }, problems);
    return { ...this.#counts, sums: this.#sums };
  }

  async #restore<R extends StoredRecord>(
    page: readonly Waiting[],
    store: Pick<RecordStore<R, never>, 'restore'>,
    snapshots: readonly Snapshot<R>[],
  ): Promise<void> {
    if (snapshots.length === 0) return;
    const restored = await withRetry(() => store.restore(snapshots));
    for (const [n, { record }] of snapshots.entries())
      this.#count(restored[n]!, page[n]!.line, page[n]!.stored.kind, record.id);
  }

  async #putToken(line: number, token: AdminToken): Promise<void> {
    const { tokens } = this.#engine;
    const here = await withRetry(() => tokens.read(token.id));
    if (here === undefined) await withRetry(() => tokens.add(token));
    const how = here === undefined ? 'added' : isDeepStrictEqual({ ...here }, { ...token }) ? 'unchanged' : 'different';
    this.#count(how, line, 'token', token.id);
  }

  #count(how: Restored, line: number, kind: string, id: string): void {
    if (how !== 'different') {
      this.#counts[how] += 1;
      return;
    }
    this.#different.add(id);
    this.#refuse(line, `a different ${kind} ${id} exists here: it stays unchanged`);
  }

  /** Binds the archive with the days that the export lacks: without it, bills would be too small. */
  async #bind(named: Extract<StoredLine, { kind: 'store' }>['archive']): Promise<void> {
    if (named === null) return;
    const { archive } = this.#engine.transfer;
    const days = new Map(named.days.map((day) => [day, named.has?.[day] ?? null]));
    const bound = archive === undefined ? null : await withRetry(() => archive.bind(named.id, days));
    if (bound === named.id) return;
    const why =
      bound === null
        ? 'an embedded store has no archive: restore its days first, with "petgate usage archive restore" where ' +
          'this was exported'
        : `days of this store are in another archive (${bound})`;
    throw new ImportRefused({ imported: 0, unchanged: 0 }, [`days are in the archive ${named.id}, and ${why}`]);
  }

  #endProblem(): string {
    if (this.#end === null) return 'the file is incomplete; the records in it were imported';
    return `the lines do not sum up to the last one: ${JSON.stringify(this.#sums)}, not ${JSON.stringify(this.#end)}`;
  }

  #refuse(line: number, problem: string): void {
    this.problems.push(`line ${line}: ${problem}`);
  }
}

/** Returns roughly how many rows of a store a line has. */
function sizeOf(stored: StoredLine): number {
  if (stored.kind === 'usage') return stored.rows.length;
  if (stored.kind === 'key') return stored.history.length + stored.usage.length;
  return stored.kind === 'customer' ? stored.history.length : 1;
}
