import type pg from 'pg';
import type { Counts, UsageRow } from '../../store/records/counts.js';
import { ArchiveDamaged, ArchiveUnavailable } from './errors.js';
import type { Part } from '../../store/ledger.js';
import { COLUMNS, DayChecksum, type Checksum } from './checksum.js';
import { connectTo, endOf, inTransaction, unavailable, type Connect } from './connect.js';
import { addMonth, LOCK, migrateArchive } from './migrations.js';
import { checksumIn, checksumsOf, raiseRows, readRows, rowsOfKeys } from './archived-rows.js';

const INSERT_ROWS = 1_000;
/** PostgreSQL's code for a missing table. */
const NO_TABLE = '42P01';

export interface ArchivedDay {
  readonly counts: Counts;
  /** Moved by version 0.3, which set no marks in the store. */
  readonly isUnmarked: boolean;
}

/** Opens the archive in the database at `url`, and updates its schema. Rejects with ArchiveUnavailable. */
export async function openPostgresArchive(url: string): Promise<Archive> {
  const connect = connectTo(url);
  let client: pg.Client | undefined;
  try {
    client = await connect();
    await migrateArchive(client);
    return new Archive(client, connect, await settingIn(client, 'id'));
  } catch (error) {
    await endOf(client);
    throw unavailable(error);
  }
}

/**
 * Returns the ID of the store whose days are in the database at `url`; null if there is no archive or it has no store
 * yet. Changes nothing. Takes at most twice the deadline `ms`. Rejects with ArchiveUnavailable.
 */
export async function storeIdIn(url: string, ms: number): Promise<string | null> {
  let client: pg.Client | undefined;
  try {
    client = await connectTo(url, { connectionTimeoutMillis: ms, query_timeout: ms })();
    return (await settingIn(client, 'store')) || null;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === NO_TABLE) return null;
    throw unavailable(error);
  } finally {
    await endOf(client);
  }
}

async function settingIn(client: pg.Client, name: string): Promise<string> {
  const { rows } = await client.query<{ value: string }>('select value from ledger_settings where name = $1', [name]);
  return rows[0]?.value ?? '';
}

/** Days of the ledger in PostgreSQL. Counts never decrease. */
export class Archive {
  /** Identifies this archive. */
  readonly id: string;
  readonly #client: pg.Client;
  readonly #connect: Connect;

  constructor(client: pg.Client, connect: Connect, id: string) {
    this.#client = client;
    this.#connect = connect;
    this.id = id;
  }

  /** Binds the archive to the first of a store's IDs. Rejects with ArchiveUnavailable if another store's is bound. */
  async bind(storeIds: readonly string[]): Promise<void> {
    const insert = "insert into ledger_settings values ('store', $1) on conflict (name) do nothing";
    await this.#attempt(() => this.#client.query(insert, [storeIds[0]]));
    await this.isOf(storeIds);
  }

  /** Rejects with ArchiveUnavailable if the archive belongs to a store with another ID than these. */
  async isOf(storeIds: readonly string[]): Promise<void> {
    const bound = await this.#attempt(() => settingIn(this.#client, 'store'));
    if (bound === '' || storeIds.includes(bound)) return;
    throw new ArchiveUnavailable(
      `The archive at LEDGER_URL belongs to another store (${bound}; this one is ${storeIds[0]}). Give each store ` +
        'its own database or schema.',
    );
  }

  /** Returns a value that changes with every `put` and `drop`. */
  version(): Promise<string> {
    return this.#attempt(() => settingIn(this.#client, 'version'));
  }

  /** Returns all verified days by name: `2026-11-21`. */
  days(): Promise<ReadonlyMap<string, ArchivedDay>> {
    return this.#attempt(async () => {
      const { rows } = await this.#client.query<{ day: string; moved: boolean; totals: Counts }>(
        'select day::text, moved, totals from ledger_days where verified order by day',
      );
      return new Map(rows.map(({ day, moved, totals }) => [day, { counts: totals, isUnmarked: moved }]));
    });
  }

  /** Returns the archived rows of these keys, each on the day given with it. */
  rowsOf(wanted: readonly Pick<UsageRow, 'key' | 'day'>[]): Promise<readonly UsageRow[]> {
    return this.#attempt(() => rowsOfKeys(this.#client, wanted));
  }

  /**
   * Yields the rows of these days: keys in the order of their IDs, each key by day. Verifies checksums if `part` covers
   * all keys. Rejects with ArchiveUnavailable or ArchiveDamaged.
   */
  async *rows(days: readonly string[], part: Part): AsyncGenerator<readonly UsageRow[]> {
    if (days.length === 0) return;
    const client = await this.#attempt(this.#connect);
    try {
      yield* readRows(client, days, part);
    } catch (error) {
      throw unavailable(error);
    } finally {
      await endOf(client);
    }
  }

  /** Raises each count of a day to at least the given one. Durable when the promise resolves. */
  put(day: string, rows: AsyncIterable<readonly UsageRow[]>): Promise<void> {
    return this.#attempt(() =>
      inTransaction(this.#connect, async (client) => {
        await client.query(`select pg_advisory_xact_lock(${LOCK}, 1)`);
        await addMonth(client, day);
        const { rowCount } = await client.query('select 1 from ledger_days where day = $1 and verified', [day]);
        // Version 0.3 may have left rows that it never verified: write the day again.
        if (rowCount === 0) await client.query('delete from ledger_rows where day = $1', [day]);
        const written = new DayChecksum(day);
        for await (const batch of rows) {
          for (const row of batch) written.add(row);
          for (let at = 0; at < batch.length; at += INSERT_ROWS)
            await raiseRows(client, day, batch.slice(at, at + INSERT_ROWS));
        }
        const { rows: count, totals, sha256 } = rowCount === 0 ? written.result : await checksumIn(client, day);
        await client.query(PUT_DAY, [day, COLUMNS, count, totals, sha256]);
        await client.query(NEXT_VERSION);
      }),
    );
  }

  /** Reads a whole day and verifies its checksum. Rejects with ArchiveDamaged. */
  verify(day: string): Promise<Checksum> {
    return this.#attempt(async () => {
      const checksum = (await checksumsOf(this.#client, [day])).get(day);
      if (checksum === undefined) throw new ArchiveDamaged(`The archive has no day ${day}.`);
      const rows = this.rows([day], {});
      while ((await rows.next()).done !== true);
      return checksum;
    });
  }

  async drop(day: string): Promise<void> {
    await this.#attempt(() =>
      inTransaction(this.#connect, async (client) => {
        await client.query('delete from ledger_rows where day = $1', [day]);
        await client.query('delete from ledger_days where day = $1', [day]);
        await client.query(NEXT_VERSION);
      }),
    );
  }

  /** Returns until when moves are paused, Unix ms; 0 if they never were. */
  async pausedUntilMs(): Promise<number> {
    return Number(await this.#attempt(() => settingIn(this.#client, 'paused')));
  }

  async pause(untilMs: number): Promise<void> {
    await this.#attempt(() =>
      this.#client.query("update ledger_settings set value = $1 where name = 'paused'", [String(untilMs)]),
    );
  }

  /** Runs `work`, or returns undefined if another process holds the lock. */
  withLock<T>(work: () => Promise<T>): Promise<T | undefined> {
    return this.#attempt(() =>
      // A transaction holds the lock: it ends with the process, and a pooler keeps it on one connection.
      inTransaction(this.#connect, async (client) => {
        await client.query('set local idle_in_transaction_session_timeout = 0');
        const { rows } = await client.query<{ mine: boolean }>(`select pg_try_advisory_xact_lock(${LOCK}, 2) as mine`);
        return rows[0]?.mine === true ? work() : undefined;
      }),
    );
  }

  close(): Promise<void> {
    return endOf(this.#client);
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw (error as Error).name === 'StoreUnavailable' ? error : unavailable(error);
    }
  }
}

const PUT_DAY = `insert into ledger_days (day, columns, rows, totals, sha256, verified)
  values ($1, $2, $3, $4, $5, true) on conflict (day) do update set
  columns = excluded.columns, rows = excluded.rows, totals = excluded.totals, sha256 = excluded.sha256,
  verified = true`;
const NEXT_VERSION = "update ledger_settings set value = (value::bigint + 1)::text where name = 'version'";
