import type { UsageRow } from '../../store/records/counts.js';

/** Rows of one source, in order of keys. */
type Source<Row> = AsyncIterable<readonly Row[]>;

/** Minimum size of a batch, except the last. A key's rows are never split. */
const BATCH_ROWS = 512;

/** Merges the rows of all sources: by key, then by day. */
export async function* mergeByKey<Row extends UsageRow>(
  sources: readonly Source<Row>[],
): AsyncGenerator<readonly Row[]> {
  const cursors = sources.map((source) => new Cursor(source));
  try {
    await Promise.all(cursors.map((cursor) => cursor.fill()));
    let batch: Row[] = [];
    for (let key = leastKey(cursors); key !== null; key = leastKey(cursors)) {
      const from = batch.length;
      for (const cursor of cursors) await cursor.take(key, batch);
      if (!isByDay(batch, from))
        batch.push(...batch.splice(from).sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0)));
      if (batch.length < BATCH_ROWS) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  } finally {
    await Promise.all(cursors.map((cursor) => cursor.close()));
  }
}

class Cursor<Row extends UsageRow> {
  readonly #rows: AsyncIterator<readonly Row[]>;
  #batch: readonly Row[] = [];
  #at = 0;

  constructor(source: Source<Row>) {
    this.#rows = source[Symbol.asyncIterator]();
  }

  get key(): string | null {
    return this.#batch[this.#at]?.key ?? null;
  }

  async fill(): Promise<void> {
    while (this.#at === this.#batch.length) {
      const next = await this.#rows.next();
      if (next.done === true) return;
      this.#batch = next.value;
      this.#at = 0;
    }
  }

  /** Moves the rows of a key into `rows`. */
  async take(key: string, rows: Row[]): Promise<void> {
    while (this.key === key) {
      rows.push(this.#batch[this.#at]!);
      this.#at += 1;
      if (this.#at === this.#batch.length) await this.fill();
    }
  }

  async close(): Promise<void> {
    await this.#rows.return?.();
  }
}

/** Saves sorting: rows are nearly always in order, because the archive comes first and has the earlier days. */
function isByDay(rows: readonly UsageRow[], from: number): boolean {
  for (let at = from + 1; at < rows.length; at += 1) if (rows[at]!.day < rows[at - 1]!.day) return false;
  return true;
}

function leastKey(cursors: readonly Cursor<UsageRow>[]): string | null {
  let least: string | null = null;
  for (const { key } of cursors) if (key !== null && (least === null || key < least)) least = key;
  return least;
}
