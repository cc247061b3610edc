import type { Client } from 'pg';

/** How long to wait for another instance that migrates. */
const LOCK_MS = 30_000;

/** A schema with its migrations. */
interface Schema {
  /** Name of the table that records which migrations were applied. */
  readonly table: string;
  /** Number of the advisory lock; no other program may use it in this database. */
  readonly lock: string;
  /** One step each, in order; never changed once released. The number of steps applied is the version of the schema. */
  readonly migrations: readonly string[];
  /** Returns the error for a version newer than this program, which it cannot interpret. */
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
    // The original error matters more than that of a rollback on a broken connection.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}
