import type { NewPet, Pet, PetStatus } from '../pet.js';

/** A stretch of the catalogue. */
export interface Page {
  readonly afterId: bigint;
  readonly count: number;
  readonly status: PetStatus | undefined;
}

/** The catalogue. Both stores pass `test/pets/store/contract.ts`. Every call may reject with StoreUnavailable. */
export interface PetStore {
  /** Keeps the pet under an id greater than all given so far; durable when the promise ends. */
  add(pet: NewPet): Promise<Pet>;
  read(id: bigint): Promise<Pet | undefined>;
  /** Up to `count` pets with an id above `afterId`, by id: a chain of pages has every pet that was there once. */
  page(page: Page): Promise<readonly Pet[]>;
  /** Proves that the catalogue can be read now. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The store did not answer in time, or answered that it cannot. Whether an `add` took place is not known. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}
