import type { UsageRow } from '../../store/records/counts.js';
import { Stream } from './stream.js';

/** Rows of one source, in order of keys. */
type Source<Row> = AsyncIterable<readonly Row[]>;

/** Minimum size of a batch, except the last. A key's rows are never split. */
const BATCH_ROWS = 512;

/** Merges the rows of all sources: by key, then by day. */
export async function* mergeByKey<Row extends UsageRow>(
  sources: readonly Source<Row>[],
): AsyncGenerator<readonly Row[]> {
  const cursors = sources.map((source) => new Stream(source));
  try {
    await Promise.all(cursors.map((cursor) => cursor.peek()));
    let batch: Row[] = [];
    for (let key = leastKey(cursors); key !== null; key = leastKey(cursors)) {
      const from = batch.length;
      for (const cursor of cursors)
        if (cursor.head?.key === key)
          await cursor.takeWhile(
            (row) => row.key === key,
            (row) => batch.push(row),
          );
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

/** Saves sorting: rows are nearly always in order, because the archive comes first and has the earlier days. */
function isByDay(rows: readonly UsageRow[], from: number): boolean {
  for (let at = from + 1; at < rows.length; at += 1) if (rows[at]!.day < rows[at - 1]!.day) return false;
  return true;
}

function leastKey(cursors: readonly Stream<UsageRow>[]): string | null {
  let least: string | null = null;
  for (const { head } of cursors) if (head !== undefined && (least === null || head.key < least)) least = head.key;
  return least;
}
