import { isDeepStrictEqual } from 'node:util';
import { NO_CHANGE } from '../../outbox/event.js';
import { Overdrawn, VersionConflict } from '../../records/conflicts.js';
import type { CustomerRecord, CustomerStore } from '../../records/customer.js';
import type { KeyChange, KeyRecord, KeyStore } from '../../records/key.js';
import { isCorrection } from '../../records/correction.js';
import { isAutomaticBan, type AuditEntry, type StoredRecord } from '../../records/record.js';
import { recordStoreOn, type Commit, type Decide, type Rows } from '../../records/record-store.js';
import { untilUncontested } from '../../records/retry.js';
import { copyOfState } from '../../state.js';
import { attempt, changingRecords, inTransaction, reading } from '../files/errors.js';
import {
  AFTER_ALL,
  automaticBanRow,
  banNoteRow,
  correctedRow,
  customerRow,
  historyRange,
  historyRow,
  recordRow,
  webhookRow,
} from '../files/rows.js';
import type { Store } from '../files/database.js';
import type { Stores } from '../owner/stores.js';
import { appendPending } from '../journal/pending.js';
import { transact, type Transaction } from '../owner/transaction.js';
import { dayOf } from '../../../../shared/utc-day.js';
import { storedDays } from '../ledger/day-ledger.js';
import { rowsOfKey } from '../ledger/rows.js';
import { raise } from '../ledger/transfer.js';

/** Names of rows. The one with the note of a ban moves with the record, and erasing removes it. */
type RecordType = typeof KEYS;
const KEYS = { row: recordRow, correctedRow: (id: string) => correctedRow('k', id), noteRow: banNoteRow };
const CUSTOMERS = { row: customerRow, correctedRow: (id: string) => correctedRow('K', id), noteRow: webhookRow };

/** Writes a row, or removes it (null). */
type Put = (row: string, value: object | null) => void;

/** Keys or customers in the file. A change is on disk before it is acknowledged. */
class EmbeddedRows<R extends StoredRecord> implements Rows<R> {
  readonly #stores: Stores;
  readonly #type: RecordType;

  constructor(stores: Stores, type: RecordType) {
    this.#stores = stores;
    this.#type = type;
  }

  readonly read: Rows<R>['read'] = (id) =>
    reading(this.#stores, (durable) => jsonIn(durable, this.#type.row(id)) as R | undefined);

  // Everything that can be read is on the disk already.
  readonly confirm: Rows<R>['confirm'] = () => Promise.resolve();

  readonly page: Rows<R>['page'] = (afterId, limit) =>
    reading(this.#stores, (durable) => this.#page(durable, afterId, limit));

  readonly corrected: Rows<R>['corrected'] = (afterId, limit) =>
    reading(this.#stores, (durable) => {
      const { correctedRow } = this.#type;
      const range = { start: correctedRow(afterId ?? ''), end: correctedRow(AFTER_ALL), limit, exclusiveStart: true };
      return [...durable.getKeys(range)].map((row) => row.slice(correctedRow('').length));
    });

  readonly history: Rows<R>['history'] = async (id) => {
    await this.#stores.fold.takeOver();
    return reading(this.#stores, (durable) => historyIn(durable, id));
  };

  readonly snapshots: Rows<R>['snapshots'] = async (afterId, limit, fromDay) => {
    await this.#stores.fold.takeOver();
    return attempt(this.#stores, () => {
      const today = dayOf(Date.now());
      const { memory, durable } = this.#stores;
      const days = storedDays(durable, fromDay, today);
      return this.#page(durable, afterId, limit).map((record) => {
        const { id } = record;
        const banNote = jsonIn(durable, this.#type.noteRow(id)) ?? null;
        const usage = rowsOfKey(this.#stores, id, fromDay, today, days);
        return { record, history: historyIn(durable, id), state: memory.stateOf('s', id), banNote, usage };
      });
    });
  };

  /** Writes a change with a manual ban as one journal record, any other in one transaction on the file. */
  async commit(commit: Commit<R>): Promise<void> {
    const { record } = commit;
    const change: KeyChange = commit.change ?? NO_CHANGE;
    const { ban } = change;
    const events = [...change.withdraw, ...change.emit];
    if (ban === undefined)
      return changingRecords(this.#stores, (durable) => {
        this.#stores.durableCapacity.claim();
        this.#check(commit);
        this.#put(filePut(durable), commit);
        appendPending(durable, events);
      });
    return this.#inJournal((write) =>
      write((transaction, put) => {
        this.#check(commit);
        transaction.setBan(transaction.key(record.id), ban?.untilMs ?? 0);
        this.#put(put, commit);
        put(banNoteRow(record.id), ban?.note ? { untilMs: ban.untilMs, ...ban.note } : null);
        for (const event of events) transaction.emit(event);
      }),
    );
  }

  async replace(changes: readonly { readonly id: string; readonly decide: Decide<R> }[]): Promise<readonly boolean[]> {
    await this.#stores.fold.takeOver();
    return this.#inJournal((write) =>
      Promise.all(
        changes.map(({ id, decide }) =>
          untilUncontested(() => write((transaction, put) => this.#replaceOne(transaction, put, id, decide))),
        ),
      ),
    );
  }

  #replaceOne(transaction: Transaction, put: Put, id: string, decide: Decide<R>): boolean {
    const { durable, durableCapacity } = this.#stores;
    const subject = transaction.key(id);
    const before = { history: historyIn(durable, id), state: copyOfState(subject.state) };
    const replacement = decide({ record: this.#stored(id), ...before });
    if (replacement === null) return false;
    durableCapacity.claim();
    transaction.reserve();
    const { given, replaces, state, history } = replacement;
    if (state !== undefined && !isDeepStrictEqual(state, before.state)) {
      subject.state = state;
      transaction.change(subject);
      transaction.noteBan(subject, state.bannedUntilMs);
    }
    if (history !== undefined && !isDeepStrictEqual(history, before.history))
      this.#putHistory(put, given.record, history);
    if (replaces) {
      put(this.#type.row(id), given.record);
      put(this.#type.noteRow(id), given.banNote);
    }
    return raise(transaction, given.usage) > 0;
  }

  /** Writes journal records; resolves once the file has them, too. */
  async #inJournal<Result>(
    work: (write: <T>(step: (transaction: Transaction, put: Put) => T) => Promise<T>) => Promise<Result>,
  ): Promise<Result> {
    const stores = this.#stores;
    try {
      const result = await work((step) =>
        // In a transaction on the file, so that no other change of a record runs meanwhile.
        inTransaction(stores, () =>
          transact(stores, (transaction) =>
            step(transaction, (row, value) => transaction.putRow(row, value && bytesOf(value))),
          ),
        ),
      );
      await stores.fold.takeOver();
      return result;
    } finally {
      stores.recordsVersion += 1;
    }
  }

  #page(durable: Store, afterId: string | null, limit: number): readonly R[] {
    const { row } = this.#type;
    const range = { start: row(afterId ?? ''), end: row(AFTER_ALL), limit, exclusiveStart: true };
    return [...durable.getRange(range)].map(({ value }) => JSON.parse(value.toString()) as R);
  }

  /**
   * Returns the record to change. Throws VersionConflict while the journal has a change that the file lacks, because
   * moving that change to the file would replace the new one.
   */
  #stored(id: string): R | undefined {
    const row = this.#type.row(id);
    if (this.#stores.memory.isPending(row)) throw new VersionConflict('the record is being changed');
    return jsonIn(this.#stores.durable, row) as R | undefined;
  }

  /** Called before anything is written, because lmdb keeps what a failed transaction has written. */
  #check({ record: { id }, over, entries, replaces = false, maxSpent = Infinity }: Commit<R>): void {
    const version = this.#stored(id)?.version ?? 0;
    if (version !== over) throw new VersionConflict(`${id} is at version ${version}`);
    if (replaces && historyIn(this.#stores.durable, id).length !== entries.length - 1)
      throw new VersionConflict(`the history of ${id} has changed`);
    const spent = this.#stores.memory.stateOf('s', id).operationWindows?.get('balance')?.level ?? 0;
    if (spent > maxSpent) throw new Overdrawn(`more than ${maxSpent} is spent of the balance of ${id}`);
  }

  #put(put: Put, { record, entries, replaces = false }: Commit<R>): void {
    const { id, version } = record;
    put(this.#type.row(id), record);
    if (replaces) {
      put(this.#type.noteRow(id), null);
      this.#putHistory(put, record, entries);
      return;
    }
    for (const entry of entries) put(historyRow(id, version), entry);
    if (entries.some(isCorrection)) put(this.#type.correctedRow(id), {});
  }

  /** Replaces the history; its last entry that is not an automatic ban gets the record's version. */
  #putHistory(put: Put, { id, version }: StoredRecord, history: readonly AuditEntry[]): void {
    for (const row of this.#stores.durable.getKeys(historyRange(id))) put(row, null);
    let at = version - history.filter((entry) => !isAutomaticBan(entry)).length;
    for (const entry of history)
      if (isAutomaticBan(entry)) put(automaticBanRow(id, at, entry.atMs, String(entry.changed['until'])), entry);
      else put(historyRow(id, (at += 1)), entry);
    if (history.some(isCorrection)) put(this.#type.correctedRow(id), {});
  }
}

export function keysOf(stores: Stores): KeyStore {
  return recordStoreOn(new EmbeddedRows<KeyRecord>(stores, KEYS));
}

export function customersOf(stores: Stores): CustomerStore {
  return {
    ...recordStoreOn(new EmbeddedRows<CustomerRecord>(stores, CUSTOMERS)),
    keyCount: (id) =>
      reading(stores, (durable) => durable.getKeysCount({ start: recordRow(id), end: recordRow(id + AFTER_ALL) })),
  };
}

function filePut(durable: Store): Put {
  return (row, value) => {
    if (value === null) durable.removeSync(row);
    else durable.putSync(row, bytesOf(value));
  };
}

/** Returns the parsed JSON of a row; undefined if there is none. */
function jsonIn(durable: Store, row: string): unknown {
  const bytes = durable.getBinary(row);
  return bytes && JSON.parse(bytes.toString());
}

function historyIn(durable: Store, id: string): readonly AuditEntry[] {
  return [...durable.getRange(historyRange(id))].map(({ value }) => JSON.parse(value.toString()) as AuditEntry);
}

function bytesOf(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
