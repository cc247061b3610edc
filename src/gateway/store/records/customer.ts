import type { Limits } from '../../admission/bucket.js';
import type { Grant } from './grant.js';
import type { RecordStore, StoredRecord } from './record.js';

/** `closed` is final. Unless `enabled`, all keys of the customer are refused. */
export type CustomerStatus = 'enabled' | 'disabled' | 'closed';

/** A customer: plan and limits apply to all its keys. */
export interface CustomerRecord extends StoredRecord {
  readonly name: string;
  /** Its ID in the billing system; empty if none was given. */
  readonly reference: string;
  readonly plan: string;
  /** Its own limits, on a `custom` plan. */
  readonly limits: Limits | null;
  /** As for a key. */
  readonly grants?: readonly Grant[];
  /** The sum of the credits in its history; absent if there never were any. */
  readonly credited?: number;
  readonly note: string;
  readonly status: CustomerStatus;
  readonly createdAtMs: number;
}

export interface CustomerStore extends RecordStore<CustomerRecord, never> {
  /**
   * Number of its keys, including revoked ones. May include a few keys of no customer whose IDs begin with the
   * customer's ID.
   */
  keyCount(id: string): Promise<number>;
}
