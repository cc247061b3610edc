import { open } from 'node:fs/promises';
import { CommandError } from '../../command-error.js';
import type { LedgerRow } from '../ledger.js';
import { COUNTS, eventOf } from './event.js';
import type { KeyedEvent, PayerOf } from './event.js';

/** What is sent of one group of a late day. */
export interface Entry {
  /** Day, key and what else it is grouped by. */
  readonly group: Readonly<Record<string, string>>;
  /** Requests, limited, banned, failed and units in all: of its first event, then after each correction. */
  readonly totals: readonly (readonly number[])[];
  /** So many of its events were acknowledged before this journal was written. */
  readonly sent: number;
}

const PIECE_CHARACTERS = 65_536;

/** The entries of a journal in the order they were written: keys in order, all entries of one together. */
export async function* readJournal(file: string): AsyncGenerator<Entry, void> {
  let handle;
  try {
    handle = await open(file);
  } catch (error) {
    throw new CommandError(
      `The journal of days that may still grow can't be read: ${String(error)}. It belongs to the state of the push: bring it back, or ask for the day with another --state.`,
    );
  }
  try {
    for await (const line of handle.readLines()) yield withUnits(JSON.parse(line) as Entry);
  } finally {
    await handle.close();
  }
}

/** A journal of a version in which every request cost one has no units. */
function withUnits({ totals, ...entry }: Entry): Entry {
  return {
    ...entry,
    totals: totals.map((counts) => (counts.length < COUNTS.length ? [...counts, counts[0]!] : counts)),
  };
}

/** Writes a journal so that it survives a crash once this resolves. */
export async function writeJournal(file: string, entries: AsyncIterable<Entry>): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    let piece = '';
    for await (const entry of entries) {
      piece += `${JSON.stringify(entry)}\n`;
      if (piece.length < PIECE_CHARACTERS) continue;
      await handle.writeFile(piece);
      piece = '';
    }
    await handle.writeFile(piece);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The events of a journal that wait to be acknowledged, always the same as long as the same pay. */
export async function* eventsIn(file: string, source: string, payerOf?: PayerOf): AsyncGenerator<KeyedEvent, void> {
  for await (const { group, totals, sent } of readJournal(file)) {
    for (let place = sent; place < totals.length; place += 1)
      yield {
        key: group['key']!,
        event: eventOf(addedBy(group, totals, place), 'day', source, place + 1, payerOf),
      };
  }
}

function addedBy(group: Entry['group'], totals: Entry['totals'], place: number): LedgerRow {
  const added = COUNTS.map(
    (name, column) => [name, String(totals[place]![column]! - (totals[place - 1]?.[column] ?? 0))] as const,
  );
  return new Map([...Object.entries(group), ...added]);
}
