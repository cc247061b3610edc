import pg from 'pg';
import type { Test } from 'tap';
import { exportStore } from '../../../../src/gateway/accounts/transfer/store-export.js';
import { importStore } from '../../../../src/gateway/accounts/transfer/store-import.js';
import type { ImportLine } from '../../../../src/gateway/accounts/transfer/import.js';
import { acceptLacking, type LackingDay } from '../../../../src/gateway/usage/archive/lacking.js';
import { moveDays } from '../../../../src/gateway/usage/archive/move.js';
import type { Archive } from '../../../../src/gateway/usage/archive/archive.js';
import type { AdmissionEngine } from '../../../../src/gateway/store/port.js';
import { openArchive } from '../../../../src/gateway/usage/archive/ledger.js';
import type { Actor } from '../../../conformance/cast.js';
import type { PostgresServer } from '../../../servers/postgres.js';
import { redisFor, type RedisServer } from '../../../servers/redis.js';
import { ago, agoMs, allRows, openStage, type Stage } from './stage.js';

/** A Redis, what counts in it, and the archive beside it. */
export interface Place extends Stage {
  readonly redis: RedisServer;
}

/** An empty Redis with an archive at `url`, which other places may share. */
export async function newPlace(t: Test, url: string): Promise<Place> {
  const redis = await redisFor(t);
  return openPlace(t, redis, url);
}

/** Opened anew on a Redis, as by a gateway that starts. */
export async function openPlace(t: Test, redis: RedisServer, url: string): Promise<Place> {
  return { ...(await openStage(t, redis.url, url, 80)), redis };
}

/** Counts requests of a key so many days ago. */
export async function count(
  engine: AdmissionEngine,
  { subject }: Actor,
  days: number,
  requests: number,
): Promise<void> {
  const request = { subject, operation: 'listPets', scope: null, cost: 1, nowMs: agoMs(days) };
  await engine.admit(Array.from({ length: requests }, () => request));
}

/** With an archive that is opened for it. */
async function withArchive<T>({ settings }: Stage, work: (archive: Archive) => Promise<T>): Promise<T> {
  const archive = await openArchive(settings);
  try {
    return await work(archive!);
  } finally {
    await archive!.close();
  }
}

/** What a report has of a key and day. */
export function bill(place: Stage, { id }: Pick<Actor, 'id'>, days: number): Promise<number> {
  return withArchive(place, async (archive) => {
    const rows = await allRows(place.store, archive, ago(days), { key: id });
    return rows.filter(({ day }) => day === ago(days)).reduce((sum, { requests }) => sum + requests, 0);
  });
}

/** Moves what is due; the days. */
export function move(place: Stage): Promise<readonly string[]> {
  return withArchive(place, async (archive) => {
    const days: string[] = [];
    await moveDays(place.store, archive, place.settings.store, (day) => days.push(day));
    return days;
  });
}

/** Takes the archive as it is; what is lost. */
export function accept(place: Stage): Promise<readonly LackingDay[]> {
  return withArchive(place, (archive) => acceptLacking(place.store, archive));
}

export async function exported({ engine }: Stage): Promise<readonly string[]> {
  let text = '';
  for await (const piece of exportStore(engine, Date.now())) text += piece;
  return text.trim().split('\n');
}

export function imported({ engine }: Stage, lines: readonly string[]) {
  const all = async function* (): AsyncGenerator<ImportLine> {
    for (const [n, line] of lines.entries())
      yield await Promise.resolve({ line: n + 1, body: JSON.parse(line) as Record<string, unknown> });
  };
  return importStore(engine, all());
}

/** Puts an older state of a database in place of it. */
export async function copyDatabase(postgres: PostgresServer, from: string, to: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    for (const name of [from, to])
      await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    await client.query(`drop database if exists ${client.escapeIdentifier(to)}`);
    await client.query(`create database ${client.escapeIdentifier(to)} template ${client.escapeIdentifier(from)}`);
  } finally {
    await client.end();
  }
}
