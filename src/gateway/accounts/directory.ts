import { setImmediate as nextTurn } from 'node:timers/promises';
import { withRetry } from '../store/records/retry.js';

/** What a list needs to find a record and to order it. */
export interface Listed {
  readonly id: string;
  readonly createdAtMs: number;
  readonly name: string;
  /** Customers only. */
  readonly reference?: string;
}
export interface Entry extends Pick<Listed, 'id' | 'createdAtMs'> {
  /** Name, ID and reference, as `searchable` makes them. */
  readonly text: string;
}

/** About 150 bytes each. With more records, a list by age has only the newest. */
const MAX_ENTRIES = 250_000;
/** Changes made by other gateways appear after this time at the latest, counted from the next list. */
const MAX_AGE_MS = 5_000;
/** Maximum number of writes between two reads; after more, the next list reads all records again. */
const MAX_WRITTEN = 10_000;
const READ_AT_ONCE = 250;

/** All records of one type by age, in memory: read on first use, then again in the background. */
export class Directory {
  readonly #read: (afterId: string | null, count: number) => Promise<readonly Listed[]>;
  readonly #nowMs: () => number;
  #entries: readonly Entry[] | undefined;
  #readAtMs = -Infinity;
  #reading: Promise<readonly Entry[]> | undefined;
  /** Written here since the last read began; a later read may lack them. */
  #written = new Map<string, Entry>();
  /** Whether `#entries` lacks some of `#written`. */
  #isBehind = false;

  /** @param nowMs a clock that never steps back */
  constructor(
    read: (afterId: string | null, count: number) => Promise<readonly Listed[]>,
    nowMs = () => performance.now(),
  ) {
    this.#read = read;
    this.#nowMs = nowMs;
  }

  /** Returns the entries, newest first. Rejects with StoreUnavailable. */
  async entries(): Promise<readonly Entry[]> {
    if (this.#entries !== undefined && this.#isBehind) this.#take(this.#entries);
    const before = this.#entries;
    if (this.#nowMs() - this.#readAtMs > MAX_AGE_MS) this.#reading ??= this.#begin();
    if (before === undefined) return this.#reading ?? [];
    // A failed refresh leaves the older entries.
    this.#reading?.catch(() => undefined);
    return before;
  }

  /** Notes a record created or changed here. Cheap, however many records there are. */
  note(record: Listed): void {
    // The first read will have it.
    if (this.#entries === undefined && this.#reading === undefined) return;
    const entry = entryOf(record);
    this.#written.set(entry.id, entry);
    this.#isBehind = true;
    if (this.#written.size > MAX_WRITTEN) this.forget();
  }

  /** Makes the next list read all records again: many were written here. */
  forget(): void {
    this.#entries = undefined;
    this.#readAtMs = -Infinity;
    this.#reading = undefined;
    this.#written = new Map();
  }

  #begin(): Promise<readonly Entry[]> {
    const written = (this.#written = new Map<string, Entry>());
    // The read is void if `forget` was called meanwhile.
    const isCurrent = (): boolean => this.#written === written;
    return this.#readAll()
      .then((entries) => {
        if (!isCurrent()) return this.entries();
        this.#readAtMs = this.#nowMs();
        return this.#take(entries);
      })
      .finally(() => {
        if (isCurrent()) this.#reading = undefined;
      });
  }

  /** Adds what was written here. */
  #take(entries: readonly Entry[]): readonly Entry[] {
    this.#isBehind = false;
    return (this.#entries = merged(entries, [...this.#written.values()]));
  }

  async #readAll(): Promise<readonly Entry[]> {
    let entries: Entry[] = [];
    for (let afterId: string | null = null; ;) {
      const from = afterId;
      const records: readonly Listed[] = await withRetry(() => this.#read(from, READ_AT_ONCE));
      for (const record of records) entries.push(entryOf(record));
      if (entries.length > 2 * MAX_ENTRIES) entries = entries.sort(byAge).slice(0, MAX_ENTRIES);
      if (records.length < READ_AT_ONCE) return entries.sort(byAge).slice(0, MAX_ENTRIES);
      afterId = records.at(-1)!.id;
      await nextTurn();
    }
  }
}

/** Returns the form in which texts are compared: case and character width do not matter. */
export function searchable(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** Whether an entry comes after the one that a cursor names. */
export function isAfter(cursor: string, { id, createdAtMs }: Pick<Listed, 'id' | 'createdAtMs'>): boolean {
  const [atMs, last = ''] = cursor.split('.');
  return createdAtMs < Number(atMs) || (createdAtMs === Number(atMs) && id > last);
}

export function cursorOf({ id, createdAtMs }: Pick<Listed, 'id' | 'createdAtMs'>): string {
  return `${createdAtMs}.${id}`;
}

function entryOf({ id, createdAtMs, name, reference = '' }: Listed): Entry {
  return { id, createdAtMs, text: searchable(`${name}\n${id}\n${reference}`) };
}

function byAge(one: Entry, other: Entry): number {
  return other.createdAtMs - one.createdAtMs || (one.id < other.id ? -1 : 1);
}

function merged(entries: readonly Entry[], changed: readonly Entry[]): readonly Entry[] {
  if (changed.length === 0) return entries;
  const ids = new Set(changed.map(({ id }) => id));
  return [...entries.filter(({ id }) => !ids.has(id)), ...changed].sort(byAge);
}
