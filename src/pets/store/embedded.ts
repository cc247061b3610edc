import { open } from 'lmdb';
import type { Database, RootDatabase } from 'lmdb';
import type { NewPet, Pet, PetStatus } from '../pet.js';
import { StoreUnavailable } from './port.js';
import type { Page, PetStore } from './port.js';

/** Address space to begin with; the map grows by itself, so the disk is the only bound. */
const MAP_BYTES = 2 ** 30;

/**
 * The catalogue in an LMDB file in `folder`, which is made if need be and may be shared by several
 * processes of one machine. Throws when it can't be opened.
 *
 * `overlappingSync: false` makes a commit end only after the disk has it: an acknowledged pet
 * survives `kill -9` and a power cut. Commits happen on a thread of lmdb's, and the pets added while
 * one is under way share the next, so waiting for the disk costs once for many.
 *
 * `eventTurnBatching: false` because with it lmdb makes a promise of its own for each batch that
 * nobody can await, and one failed commit (a full disk) then ends the process as unhandled.
 */
export function openEmbeddedStore(folder: string): PetStore {
  return new EmbeddedStore(open({ path: folder, mapSize: MAP_BYTES, maxDbs: 2, overlappingSync: false, eventTurnBatching: false }));
}

class EmbeddedStore implements PetStore {
  readonly #root: RootDatabase;
  /** id → [name, categoryId, status?] */
  readonly #pets: Database<string, Buffer>;
  /** status and id → nothing: a filtered page reads only its own pets. */
  readonly #byStatus: Database<string, Buffer>;

  constructor(root: RootDatabase) {
    this.#root = root;
    this.#pets = root.openDB<string, Buffer>({ name: 'pets', encoding: 'string', keyEncoding: 'binary' });
    this.#byStatus = root.openDB<string, Buffer>({ name: 'pets-by-status', encoding: 'string', keyEncoding: 'binary' });
  }

  async add(pet: NewPet): Promise<Pet> {
    try {
      // A child transaction leaves nothing behind when it fails; the write lock is held by one process at a time.
      return await this.#root.childTransaction(() => this.#insert(pet));
    } catch (error) {
      throw await unavailable(error);
    }
  }

  #insert(pet: NewPet): Pet {
    let lastId = 0n;
    // Pets are never removed, so the greatest id there is was also the last one given.
    for (const key of this.#pets.getKeys({ reverse: true, limit: 1 })) lastId = idOf(key);
    const id = lastId + 1n;
    this.#pets.putSync(idKey(id), JSON.stringify([pet.name, pet.categoryId.toString(), ...(pet.status === undefined ? [] : [pet.status])]));
    if (pet.status !== undefined) this.#byStatus.putSync(statusKey(pet.status, id), '');
    return { id, ...pet };
  }

  async read(id: bigint): Promise<Pet | undefined> {
    return this.#reading(() => {
      const row = this.#pets.get(idKey(id));
      return row === undefined ? undefined : petOf(id, row);
    });
  }

  async page({ afterId, count, status }: Page): Promise<readonly Pet[]> {
    return this.#reading(() => {
      const pets: Pet[] = [];
      if (status === undefined) {
        for (const { key, value } of this.#pets.getRange({ start: idKey(afterId + 1n), limit: count })) pets.push(petOf(idOf(key), value));
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
    await this.#root.close();
  }

  /** Reads what all processes had committed by now. */
  #reading<Result>(work: () => Result): Promise<Result> {
    return new Promise<Result>((resolve) => {
      this.#root.resetReadTxn();
      resolve(work());
    }).catch(async (error: unknown) => {
      throw await unavailable(error);
    });
  }
}

const MAX_KEY = 2n ** 64n - 1n;
/** These stand in files: never give a number to another status. */
const STATUS_BYTE: Readonly<Record<PetStatus, number>> = { available: 1, pending: 2, sold: 3 };

/** Eight bytes, greatest first: LMDB's order of bytes is then the order of ids. */
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

async function unavailable(error: unknown): Promise<StoreUnavailable> {
  let cause = error;
  // lmdb tells why a commit failed in a promise of its own, which ends the process when nobody takes it.
  if (error instanceof Error && 'commitError' in error) {
    cause = await Promise.resolve(error.commitError).catch((reason: unknown) => reason);
  }
  const reason = cause instanceof Error ? cause.message : 'unknown reason';
  return new StoreUnavailable(`The embedded store of pets failed (${reason}). See whether its disk is full.`, { cause });
}
