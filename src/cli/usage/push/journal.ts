import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { CommandError } from '../../command-error.js';
import type { LedgerRow } from '../ledger.js';
import { COUNTS, groupOf } from './event.js';
import { syncFolderOf } from './state.js';

/** The content of one event: a row of the ledger, or its later growth. */
interface Entry {
  readonly row: LedgerRow;
  /** 1 for the first of its group. */
  readonly revision: number;
  /** Offset of the end of its line, bytes. */
  readonly end: number;
}

const PIECE_CHARACTERS = 65_536;

/** Yields the entries in the first `bytes` of a journal, in the order they were written. Throws CommandError. */
export async function* readJournal(file: string, bytes: number): AsyncGenerator<Entry, void> {
  if (bytes === 0) return;
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) < bytes)
    throw new CommandError(
      `The journal ${file} is missing or too short. It belongs to the state of the push: restore it, or push the day ` +
        'with another --state.',
    );
  const handle = await open(file);
  try {
    let end = 0;
    for await (const line of handle.readLines({ end: bytes - 1 })) {
      end += Buffer.byteLength(line) + 1;
      const { revision, ...fields } = JSON.parse(line) as Record<string, string> & { readonly revision: number };
      yield { row: new Map(Object.entries(fields)), revision, end };
    }
  } finally {
    await handle.close();
  }
}

/** The total of one group in a journal. */
interface Sum {
  readonly revision: number;
  readonly counts: readonly number[];
}

/**
 * Appends what the ledger has beyond the first `bytes` of a journal, on disk when this resolves. Cuts off the rest of
 * the journal, which a killed push left. Writes nothing for a group that has shrunk.
 * @returns the new length
 */
export async function appendGrowth(file: string, bytes: number, rows: AsyncIterable<LedgerRow>): Promise<number> {
  const sums = await sumsIn(file, bytes);
  const handle = await open(file, bytes === 0 ? 'w' : 'r+', 0o600);
  try {
    await handle.truncate(bytes);
    let [length, piece] = [bytes, ''];
    const flush = async (): Promise<void> => {
      const text = Buffer.from(piece);
      await handle.write(text, 0, text.length, length);
      length += text.length;
      piece = '';
    };
    for await (const row of rows) {
      const known = sums.get(groupOf(row));
      const added = known === undefined ? row : growthOf(row, known);
      if (added === undefined) continue;
      piece += `${JSON.stringify({ ...Object.fromEntries(added), revision: (known?.revision ?? 0) + 1 })}\n`;
      if (piece.length > PIECE_CHARACTERS) await flush();
    }
    await flush();
    await handle.sync();
    syncFolderOf(file);
    return length;
  } finally {
    await handle.close();
  }
}

async function sumsIn(file: string, bytes: number): Promise<ReadonlyMap<string, Sum>> {
  const sums = new Map<string, Sum>();
  for await (const { row, revision } of readJournal(file, bytes)) {
    const before = sums.get(groupOf(row))?.counts;
    sums.set(groupOf(row), { revision, counts: countsIn(row).map((count, n) => count + (before?.[n] ?? 0)) });
  }
  return sums;
}

/** Returns the row with what it exceeds the written sum of its group by; undefined if that is nothing. */
function growthOf(row: LedgerRow, { counts }: Sum): LedgerRow | undefined {
  const more = countsIn(row).map((count, n) => Math.max(count - counts[n]!, 0));
  if (more.every((count) => count === 0)) return undefined;
  return new Map([...row, ...COUNTS.map((name, n) => [name, String(more[n])] as const)]);
}

function countsIn(row: LedgerRow): readonly number[] {
  return COUNTS.map((name) => Number(row.get(name) ?? 0));
}
