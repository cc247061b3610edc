import type { NewPet, Pet, PetStatus } from '../pet.js';

/** A range of the catalogue. */
export interface Page {
  readonly afterId: bigint;
  readonly count: number;
  readonly status: PetStatus | undefined;
}

/** The catalogue. Every call may reject with StoreUnavailable. */
export interface PetStore {
  /** Stores the pet under an id greater than all earlier ones; it is durable when the promise resolves. */
  add(pet: NewPet): Promise<Pet>;
  read(id: bigint): Promise<Pet | undefined>;
  /**
   * Returns up to `count` pets with an id above `afterId`, in order of id. Following the pages finds every pet that
   * existed at the start exactly once.
   */
  page(page: Page): Promise<readonly Pet[]>;
  /** Rejects if the catalogue cannot be read now. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The store did not respond in time, or failed. It is unknown whether an `add` took effect. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}
