import type { Limits } from '../../admission/bucket.js';
import type { Grant } from './grant.js';
import type { RecordStore, StoredRecord } from './record.js';

/** `closed` is final. In any but `enabled` all keys of the customer are refused. */
export type CustomerStatus = 'enabled' | 'disabled' | 'closed';

/** All that is known of a customer: plan and limits are those of all its keys. */
export interface CustomerRecord extends StoredRecord {
  readonly name: string;
  /** Its id in the billing system; empty where none was given. */
  readonly reference: string;
  readonly plan: string;
  /** Own limits, on a plan whose limits are `custom`. */
  readonly limits: Limits | null;
  /** As of a key. */
  readonly grants?: readonly Grant[];
  readonly note: string;
  readonly status: CustomerStatus;
  readonly createdAtMs: number;
}

export interface CustomerStore extends RecordStore<CustomerRecord, never> {
  /** How many keys it has, revoked ones included; a few may be of nobody whose id begins alike. */
  keyCount(id: string): Promise<number>;
}
