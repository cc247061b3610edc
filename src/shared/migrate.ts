import type { Client } from 'pg';

/** How long to wait for another instance that migrates. */
const LOCK_MS = 30_000;

/** What is brought up to date. */
interface Schema {
  /** Of the table that says what was applied. */
  readonly table: string;
  /** Any number that no other program of the database locks. */
  readonly lock: string;
  /** One step each, in order, never changed once released: the number of those applied is the schema's version. */
  readonly migrations: readonly string[];
  /** For a version that is newer than this program: nobody knows what it means. */
  readonly refuse: (version: number) => Error;
}

/** Brings the schema up to date, all or nothing. Instances that start together take turns. */
export async function migrate(client: Client, { table, lock, migrations, refuse }: Schema): Promise<void> {
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = ${LOCK_MS}`);
    await client.query(`select pg_advisory_xact_lock(${lock})`);
    const columns = 'version integer primary key, applied_at timestamptz not null default now()';
    await client.query(`create table if not exists ${table} (${columns})`);
    const { rows } = await client.query<{ version: number }>(
      `select coalesce(max(version), 0) as version from ${table}`,
    );
    const applied = rows[0]?.version ?? 0;
    if (applied > migrations.length) throw refuse(applied);
    for (const [index, sql] of migrations.entries()) {
      if (index < applied) continue;
      await client.query(sql);
      await client.query(`insert into ${table} (version) values ($1)`, [index + 1]);
    }
    await client.query('commit');
  } catch (error) {
    // The failure is worth more than what the rollback on a broken connection says.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}
