import type { Client } from 'pg';
import { migrate } from '../../../shared/migrate.js';
import { ArchiveUnavailable } from './errors.js';

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
  // Raises the format, so that version 0.3 refuses the archive: it would read a day from both places.
  "comment on column ledger_days.moved is 'by version 0.3, which marked nothing in the store'",
  'alter table ledger_rows add column if not exists returned bigint',
];

/** Advisory lock that no other program should use: "ledg" in ASCII. */
export const LOCK = 0x6c656467;

/** Updates the archive's schema. Rejects with ArchiveUnavailable if a later version of Petgate wrote it. */
export async function migrateArchive(client: Client): Promise<void> {
  const refuse = (version: number): Error =>
    new ArchiveUnavailable(
      `The archive of the ledger has format ${version}, which this version of Petgate does not know: start the ` +
        'version that wrote it, or a later one.',
    );
  await migrate(client, { table: 'ledger_migrations', lock: `${LOCK}, 0`, migrations: MIGRATIONS, refuse });
}

/** Creates the partition for a day's month, if it is missing. */
export async function addMonth(client: Client, day: string): Promise<void> {
  const month = day.slice(0, 7);
  const next = new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)), 1)).toISOString().slice(0, 10);
  const name = client.escapeIdentifier(`ledger_rows_${month.replace('-', '_')}`);
  await client.query(
    `create table if not exists ${name} partition of ledger_rows for values from ('${month}-01') to ('${next}')`,
  );
}
