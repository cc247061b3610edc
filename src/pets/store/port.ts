/** PetStatus of the contract, section 2. */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof PET_STATUSES)[number];

export interface NewPet {
  /** 1 to 200 characters, none of them a control character. */
  readonly name: string;
  /** int64 */
  readonly categoryId: bigint;
  readonly status?: PetStatus;
}

export interface Pet extends NewPet {
  /** int64, 1 or more */
  readonly id: bigint;
}

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
