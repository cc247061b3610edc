import { rmSync } from 'node:fs';
import pg from 'pg';
import type { Subject } from '../../../src/gateway/admission/port.js';
import { DAY_MS, dayOf } from '../../../src/shared/utc-day.js';
import type { PostgresServer } from '../../servers/postgres.js';
import { Gateway } from './gateway.js';
import { copyOf, type Archive, type Folder, type Store } from './model.js';
import { accept, Place } from './place.js';
import type { ReplicatedRedis } from './replicated-redis.js';

const NOON_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2;
export const agoMs = (days: number): number => NOON_MS - days * DAY_MS;
export const ago = (days: number): string => dayOf(agoMs(days));
export const TODAY = ago(0);
/** Days on which something is counted, the oldest first: three of them are to be archived. */
export const DAYS_AGO = [70, 55, 45, 20, 0] as const;

export interface Key {
  readonly id: string;
  readonly subject: Subject;
}

/** An export, and what it must hold. */
interface File {
  readonly lines: readonly string[];
  readonly store: Store;
  /** Whether it names days of the archive. */
  readonly isArchived: boolean;
}

/** A copy of a gateway's data folder. */
interface FolderCopy {
  readonly gateway: Gateway;
  readonly path: string;
  readonly folder: Folder;
  /** Of an embedded store, what it held. */
  readonly store: Store | null;
}

/** Everything that a sequence of steps changes, beside what the model says of it. */
export class World {
  readonly places: readonly Place[];
  readonly keys: Key[] = [];
  readonly files: File[] = [];
  readonly folders: FolderCopy[] = [];
  readonly archiveSnapshots: { readonly database: string; readonly archive: Archive }[] = [];
  archive: Archive = {};
  readonly #postgres: PostgresServer;
  readonly #database: string;

  private constructor(postgres: PostgresServer, database: string, places: readonly Place[]) {
    this.#postgres = postgres;
    this.#database = database;
    this.places = places;
  }

  static async create(postgres: PostgresServer, database: string, redis: readonly ReplicatedRedis[]): Promise<World> {
    const url = await postgres.createDatabase(database);
    for (const each of redis) await each.clear();
    const places: Place[] = [];
    for (const [name, names, server] of [
      ['redis', ['redis-a', 'redis-b'], redis[0]!],
      ['other', ['other'], redis[1]!],
      ['embedded', ['embedded'], null],
    ] as const) {
      const place = new Place(name, server);
      place.gateways.push(...names.map((each) => new Gateway(each, server?.url ?? null, server && url)));
      await place.settle();
      // The archive names the store that it belongs to: the second Redis is accepted as that one.
      if (name === 'redis') await place.gateways[0]!.archiveDays(() => undefined);
      if (place.isDistrusted) await accept(place, place.gateways[0]!);
      places.push(place);
    }
    return new World(postgres, database, places);
  }

  /** PostgreSQL is dumped. */
  async snapshotArchive(): Promise<void> {
    const database = `${this.#database}_${this.archiveSnapshots.length}`;
    await this.#asAdmin(`create database ${database} template ${this.#database}`);
    this.archiveSnapshots.push({ database, archive: copyOf(this.archive) });
  }

  /** It is as it was then. */
  async restoreArchive({ database, archive }: World['archiveSnapshots'][number]): Promise<void> {
    await this.#asAdmin(`drop database ${this.#database} with (force)`);
    await this.#asAdmin(`create database ${this.#database} template ${database}`);
    this.archive = copyOf(archive);
  }

  async close(): Promise<void> {
    await Promise.all(this.places.flatMap(({ gateways }) => gateways.map((gateway) => gateway.close())));
    for (const { path } of this.folders) rmSync(path, { recursive: true });
    for (const { database } of [{ database: this.#database }, ...this.archiveSnapshots])
      await this.#asAdmin(`drop database ${database} with (force)`);
  }

  async #asAdmin(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.#postgres.url });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  }
}
