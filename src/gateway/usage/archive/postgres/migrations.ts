import type { Client } from 'pg';
import { ArchiveUnavailable } from '../errors.js';

/** One step each, in order, never changed once released: the number of those applied is the schema's version. */
const MIGRATIONS: readonly string[] = [
  `create table ledger_days (
     day date primary key,
     columns text[] not null,
     rows bigint not null,
     totals jsonb not null,
     sha256 text not null,
     verified boolean not null default false,
     moved boolean not null default false,
     archived_at timestamptz not null default now()
   );
   create table ledger_rows (
     day date not null,
     key text collate "C" not null,
     plan text collate "C" not null,
     operation text collate "C" not null,
     requests bigint,
     units bigint,
     limited bigint,
     banned bigint,
     failed bigint,
     primary key (day, key, plan, operation)
   ) partition by range (day);
   create table ledger_settings (name text primary key, value text not null);
   insert into ledger_settings values ('id', gen_random_uuid()), ('version', '0'), ('paused', '0');`,
];

/** Any number that no other program of the database locks: "ledg" in ASCII. */
export const LOCK = 0x6c656467;
const LOCK_MS = 30_000;

/** Brings the schema up to date, all or nothing. Gateways that start together take turns. */
export async function migrate(client: Client): Promise<void> {
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = ${LOCK_MS}`);
    await client.query(`select pg_advisory_xact_lock(${LOCK}, 0)`);
    await client.query(
      'create table if not exists ledger_migrations (version integer primary key, applied_at timestamptz not ' +
        'null default now())',
    );
    const { rows } = await client.query<{ version: number }>(
      'select coalesce(max(version), 0) as version from ledger_migrations',
    );
    const applied = rows[0]?.version ?? 0;
    if (applied > MIGRATIONS.length)
      throw new ArchiveUnavailable(
        `The archive of the ledger has format ${applied}, which this version of Petgate does not know: start ` +
          'the version that wrote it, or a later one.',
      );
    for (const [index, sql] of MIGRATIONS.entries()) {
      if (index < applied) continue;
      await client.query(sql);
      await client.query('insert into ledger_migrations (version) values ($1)', [index + 1]);
    }
    await client.query('commit');
  } catch (error) {
    // The failure is worth more than what the rollback on a broken connection says.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** The partition of a day's month is there afterwards. */
export async function addMonth(client: Client, day: string): Promise<void> {
  const month = day.slice(0, 7);
  const next = new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)), 1)).toISOString().slice(0, 10);
  const name = client.escapeIdentifier(`ledger_rows_${month.replace('-', '_')}`);
  await client.query(
    `create table if not exists ${name} partition of ledger_rows for values from ('${month}-01') to ('${next}')`,
  );
}
