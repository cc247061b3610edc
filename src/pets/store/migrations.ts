import type { Client } from 'pg';
import { migrate } from '../../shared/migrate.js';

const MIGRATIONS: readonly string[] = [
  `create table pets (
     id bigint generated always as identity primary key,
     name text not null,
     category_id bigint not null,
     status text check (status in ('available', 'pending', 'sold'))
   );
   create index pets_by_status on pets (status, id) where status is not null;`,
];

/** Brings the schema of the catalogue up to date. */
export async function migratePets(client: Client): Promise<void> {
  const refuse = (version: number): Error =>
    new Error(
      `it has format ${version}, which this version of pets does not know: start the version that wrote it, or a ` +
        'later one',
    );
  // "pets" in ASCII.
  await migrate(client, { table: 'pets_migrations', lock: String(0x70657473), migrations: MIGRATIONS, refuse });
}
