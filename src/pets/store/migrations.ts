import type { Client } from 'pg';

/** One step each, in order, never changed once released: the number of those applied is the schema's version. */
const MIGRATIONS: readonly string[] = [
  `create table pets (
     id bigint generated always as identity primary key,
     name text not null,
     category_id bigint not null,
     status text check (status in ('available', 'pending', 'sold'))
   );
   create index pets_by_status on pets (status, id) where status is not null;`,
];

/** Any number that no other program of the database locks: "pets" in ASCII. */
const LOCK = 0x70657473;
/** How long to wait for another instance that migrates. */
const LOCK_MS = 30_000;

/**
 * Brings the schema up to date, all or nothing. Instances that start together take turns.
 * A schema newer than this program is refused: nobody knows what it means.
 */
export async function migrate(client: Client): Promise<void> {
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = ${LOCK_MS}`);
    await client.query(`select pg_advisory_xact_lock(${LOCK})`);
    await client.query(
      'create table if not exists pets_migrations (version integer primary key, applied_at timestamptz not null ' +
        'default now())',
    );
    const { rows } = await client.query<{ version: number }>(
      'select coalesce(max(version), 0) as version from pets_migrations',
    );
    const applied = rows[0]?.version ?? 0;
    if (applied > MIGRATIONS.length)
      throw new Error(
        `it has format ${applied}, which this version of pets does not know: start the version that wrote it, ` +
          'or a later one',
      );
    for (const [index, sql] of MIGRATIONS.entries()) {
      if (index < applied) continue;
      await client.query(sql);
      await client.query('insert into pets_migrations (version) values ($1)', [index + 1]);
    }
    await client.query('commit');
  } catch (error) {
    // The failure is worth more than what the rollback on a broken connection says.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}
