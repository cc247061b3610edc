import { finalityOf } from '../../../finality.js';
import { addCounts, COUNTS, noCounts } from '../../../counts.js';
import type { LedgerStore, StoredPart } from '../../../ledger-store.js';
import type { UsageRow } from '../../../port.js';
import type { EmbeddedOptions } from '../engine.js';
import { inTransaction } from '../files/errors.js';
import { ARCHIVE, removedRow, SEPARATOR, usageRow } from '../files/rows.js';
import { openStores } from '../files/stores.js';
import { customersOf } from '../keys/customer-store.js';
import type { Stores } from '../files/stores.js';
import { packCounts, unpackCounts } from '../log/key-entry.js';
import { daysOf } from './day-ledger.js';
import { readLedgerFile } from './ledger-file.js';
import { rowsOfKey } from './usage.js';

/** Rows changed in one transaction: bounds how long admissions wait for the disk's lock. */
const ROWS_AT_ONCE = 500;

/**
 * The ledger in `options.folder`, beside the processes that count in it. What is read is read from the file, in
 * little memory; the store itself is open only while something is written.
 */
export function openEmbeddedLedger(options: EmbeddedOptions): LedgerStore {
  const write = async <T>(work: (stores: Stores) => Promise<T>): Promise<T> => {
    const stores = openStores(options);
    try {
      return await work(stores);
    } finally {
      await stores.recent.close();
      await stores.durable.close();
    }
  };
  return {
    async *rows(from, to, { keyId, after = null, archived }) {
      const days = [...daysOf(from, to)].filter((day) => isStored(day, archived));
      if (keyId === undefined) yield* readLedgerFile(options, days, after);
      else yield await write((stores) => rowsOfKey(stores, keyId, days));
    },
    day: (day) => readLedgerFile(options, [day]),
    remove: (day, rows) => write((stores) => remove(stores, day, rows)),
    removed: (day) => write((stores) => removeRow(stores, removedRow(day))),
    restore: (day, rows) => write((stores) => restore(stores, day, rows)),
    archiveId: () => write(({ durable }) => Promise.resolve(durable.getBinary(ARCHIVE)?.toString() ?? null)),
    bind: (id) =>
      write((stores) =>
        inTransaction(stores, () => {
          const bound = stores.durable.getBinary(ARCHIVE)?.toString();
          if (bound === undefined) stores.durable.putSync(ARCHIVE, Buffer.from(id));
          return bound ?? id;
        }),
      ),
    unbind: () => write((stores) => removeRow(stores, ARCHIVE)),
    customers: (afterId, count) => write((stores) => customersOf(stores).page(afterId, count)),
    nowMs: () => Promise.resolve(Date.now()),
    finality: (nowMs) => Promise.resolve(finalityOf([], nowMs, 0)),
    close: () => Promise.resolve(),
  };
}

async function removeRow(stores: Stores, name: string): Promise<void> {
  await inTransaction(stores, () => void stores.durable.removeSync(name));
}

async function restore(stores: Stores, day: string, rows: AsyncIterable<readonly UsageRow[]>): Promise<void> {
  await removeRow(stores, removedRow(day));
  for await (const some of inParts(rows))
    await inTransaction(stores, () => {
      for (const row of some) stores.durable.putSync(nameOf(day, row), packCounts(row));
    });
}

/** Of a day that is being moved the archive knows all; once it is moved, what stands here came later. */
function isStored(day: string, archived: StoredPart['archived']): boolean {
  return archived.get(day) !== 'held';
}

function nameOf(day: string, { key, plan, operation }: UsageRow): string {
  return usageRow(key, [day, plan, operation].join(SEPARATOR));
}

/** Takes the counts of these rows off those here. How far it came is written in the same transaction: nothing is taken off twice. */
async function remove(stores: Stores, day: string, rows: AsyncIterable<readonly UsageRow[]>): Promise<void> {
  const { durable } = stores;
  for await (const some of inParts(rows))
    await inTransaction(stores, () => {
      const done = durable.getBinary(removedRow(day))?.toString() ?? '';
      for (const row of some) {
        const name = nameOf(day, row);
        const bytes = name > done ? durable.getBinary(name) : undefined;
        if (bytes === undefined) continue;
        const more = noCounts();
        addCounts(more, unpackCounts(bytes));
        for (const count of COUNTS) more[count] -= row[count];
        if (COUNTS.some((count) => more[count] !== 0)) durable.putSync(name, packCounts(more));
        else durable.removeSync(name);
      }
      const last = nameOf(day, some.at(-1)!);
      if (last > done) durable.putSync(removedRow(day), Buffer.from(last));
    });
}

async function* inParts(rows: AsyncIterable<readonly UsageRow[]>): AsyncGenerator<readonly UsageRow[]> {
  for await (const batch of rows)
    for (let at = 0; at < batch.length; at += ROWS_AT_ONCE) yield batch.slice(at, at + ROWS_AT_ONCE);
}
