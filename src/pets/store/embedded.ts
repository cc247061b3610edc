import { statSync } from 'node:fs';
import { join } from 'node:path';
import { open, type Database, type RootDatabase } from 'lmdb';
import { lmdbFileState } from '../../shared/files/lmdb-file.js';
import { onceATurn } from '../../shared/turns/once-a-turn.js';
import { claimFolder } from '../../shared/files/claim-folder.js';
import { StoreUnavailable, type NewPet, type Page, type Pet, type PetStatus, type PetStore } from './port.js';

/** Initial address space; the map grows by itself, so only the disk limits it. */
const MAP_BYTES = 2 ** 30;

/**
 * Opens the catalogue in an LMDB file in `folder`, which is created if missing. Only one process may have it open.
 * Throws if it can't be opened.
 *
 * With `overlappingSync: false` a commit ends only after the data is on disk: an acknowledged pet survives `kill -9`
 * and a power cut. All pets added in one turn of the event loop share a commit. It runs on the calling thread, which
 * waits for the disk: lmdb's asynchronous transactions would not block, but if a commit fails (disk full), some of them
 * never settle.
 */
export function openEmbeddedStore(folder: string): PetStore {
  const release = claimFolder(folder);
  try {
    refuseDamaged(join(folder, 'data.mdb'));
    const root = open({ path: folder, mapSize: MAP_BYTES, maxDbs: 3, overlappingSync: false });
    return new EmbeddedStore(root, folder, release);
  } catch (error) {
    release();
    throw error;
  }
}

/** Throws if the file is damaged: lmdb would end the process without a message. */
function refuseDamaged(file: string): void {
  const damage = lmdbFileState(file)?.damage ?? null;
  if (damage !== null)
    throw new Error(
      `${file} is damaged: ${damage}. It was not opened. It holds the catalogue: put a backup in its place, or move ` +
        'it away to begin with an empty one',
    );
}

/** The only format that this version reads and writes. Each store records it, except those written by 0.2. */
const OWN_FORMAT = '1';

function checkFormat(root: RootDatabase): void {
  const about = root.openDB<string, string>({ name: 'about', encoding: 'string' });
  const format = about.get('format');
  if (format === undefined) root.transactionSync(() => about.putSync('format', OWN_FORMAT));
  else if (format !== OWN_FORMAT)
    throw new Error(
      `its catalogue has format ${format}, which this version of pets does not know: start the version that ` +
        'wrote it, or a later one',
    );
}

interface Waiting {
  readonly pet: NewPet;
  readonly resolve: (pet: Pet) => void;
  readonly reject: (error: StoreUnavailable) => void;
}

class EmbeddedStore implements PetStore {
  readonly #root: RootDatabase;
  /** id → [name, categoryId, status?] */
  readonly #pets: Database<string, Buffer>;
  /** status and id → empty; lets a filtered page read only matching pets. */
  readonly #byStatus: Database<string, Buffer>;

  readonly #waiting: Waiting[] = [];
  readonly #commitSoon = onceATurn(() => this.#commit());
  readonly #release: () => void;
  readonly #file: string;
  readonly #inode: number | undefined;

  constructor(root: RootDatabase, folder: string, release: () => void) {
    this.#root = root;
    this.#file = join(folder, 'data.mdb');
    this.#inode = inodeOf(this.#file);
    checkFormat(root);
    this.#pets = root.openDB<string, Buffer>({ name: 'pets', encoding: 'string', keyEncoding: 'binary' });
    this.#byStatus = root.openDB<string, Buffer>({ name: 'pets-by-status', encoding: 'string', keyEncoding: 'binary' });
    this.#release = release;
  }

  add(pet: NewPet): Promise<Pet> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ pet, resolve, reject });
      this.#commitSoon();
    });
  }

  /** Adds all waiting pets, or none of them. */
  #commit(): void {
    const adding = this.#waiting.splice(0);
    try {
      this.#requireFile();
      const added = this.#root.transactionSync(() => this.#insert(adding.map(({ pet }) => pet)));
      for (const [index, { resolve }] of adding.entries()) resolve(added[index]!);
    } catch (error) {
      for (const { reject } of adding) reject(unavailable(error));
    }
  }

  #insert(pets: readonly NewPet[]): readonly Pet[] {
    let lastId = 0n;
    // Pets are never removed, so the greatest id is also the last one assigned.
    for (const key of this.#pets.getKeys({ reverse: true, limit: 1 })) lastId = idOf(key);
    return pets.map((pet, index) => {
      const id = lastId + BigInt(index) + 1n;
      this.#pets.putSync(
        idKey(id),
        JSON.stringify([pet.name, pet.categoryId.toString(), ...(pet.status === undefined ? [] : [pet.status])]),
      );
      if (pet.status !== undefined) this.#byStatus.putSync(statusKey(pet.status, id), '');
      return { id, ...pet };
    });
  }

  read(id: bigint): Promise<Pet | undefined> {
    return this.#reading(() => {
      const row = this.#pets.get(idKey(id));
      return row === undefined ? undefined : petOf(id, row);
    });
  }

  page({ afterId, count, status }: Page): Promise<readonly Pet[]> {
    return this.#reading(() => {
      const pets: Pet[] = [];
      if (status === undefined) {
        for (const { key, value } of this.#pets.getRange({ start: idKey(afterId + 1n), limit: count }))
          pets.push(petOf(idOf(key), value));
        return pets;
      }
      const range = { start: statusKey(status, afterId + 1n), end: statusKey(status, MAX_KEY), limit: count };
      for (const key of this.#byStatus.getKeys(range)) {
        const id = idOf(key.subarray(1));
        const row = this.#pets.get(idKey(id));
        if (row !== undefined) pets.push(petOf(id, row));
      }
      return pets;
    });
  }

  async check(): Promise<void> {
    await this.#reading(() => this.#pets.get(idKey(1n)));
  }

  async close(): Promise<void> {
    if (this.#waiting.length > 0) this.#commit();
    await this.#root.close();
    this.#release();
    this.#requireFile();
  }

  /** Throws if the file was deleted: anything written to it would be lost when the process ends. */
  #requireFile(): void {
    if (inodeOf(this.#file) !== this.#inode)
      throw new Error(`${this.#file} was deleted while pets ran: put it back, then restart pets`);
  }

  async #reading<Result>(work: () => Result): Promise<Result> {
    try {
      this.#requireFile();
      this.#root.resetReadTxn();
      return await Promise.resolve(work());
    } catch (error) {
      throw unavailable(error);
    }
  }
}

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}

const MAX_KEY = 2n ** 64n - 1n;
/** Stored in files: never give a number to another status. */
const STATUS_BYTE: Readonly<Record<PetStatus, number>> = { available: 1, pending: 2, sold: 3 };

/** Encodes an id as eight big-endian bytes, so that LMDB sorts keys in the order of ids. */
function idKey(id: bigint): Buffer {
  const key = Buffer.alloc(8);
  key.writeBigUInt64BE(id);
  return key;
}

function idOf(key: Uint8Array): bigint {
  return Buffer.from(key).readBigUInt64BE();
}

function statusKey(status: PetStatus, id: bigint): Buffer {
  return Buffer.concat([Buffer.of(STATUS_BYTE[status]), idKey(id)]);
}

function petOf(id: bigint, row: string): Pet {
  const [name, categoryId, status] = JSON.parse(row) as [string, string, PetStatus?];
  return { id, name, categoryId: BigInt(categoryId), ...(status !== undefined && { status }) };
}

function unavailable(error: unknown): StoreUnavailable {
  const reason = error instanceof Error ? error.message : 'unknown reason';
  return new StoreUnavailable(`The embedded store of pets failed (${reason}). See whether its disk is full.`, {
    cause: error,
  });
}
