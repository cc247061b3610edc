import type { Limits } from '../../admission/bucket.js';
import type { Grant } from './grant.js';
import type { AuditEntry } from './key.js';
import type { Webhook } from './webhook.js';

/** `closed` is final. In any but `enabled` all keys of the customer are refused. */
export type CustomerStatus = 'enabled' | 'disabled' | 'closed';

/** All that is known of a customer: plan and limits are those of all its keys. */
export interface CustomerRecord {
  readonly id: string;
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
  /** Grows by one with each change: a change names the version it saw, and loses when another came first. */
  readonly version: number;
}

/** Customer records. Every change holds on the next admission of all keys of the customer on every gateway, and is durable when the promise ends. */
export interface CustomerStore {
  read(id: string): Promise<CustomerRecord | undefined>;
  /** Ends when what is stored of the customer is as certain as after `write`: for a change that finds itself made already. */
  confirm(id: string): Promise<void>;
  /**
   * Writes `record` and its audit entry in one step if the stored version is `record.version - 1` (0: absent). Rejects
   * with VersionConflict and ChangeUncertain.
   * @param webhook the new one, null for none any more; left out, it stays
   */
  write(record: CustomerRecord, entry: AuditEntry, webhook?: Webhook | null): Promise<void>;
  /** Writes `record` as `write` does, and puts `history` in place of all its history: one entry more than there is. Its webhook goes. */
  rewrite(record: CustomerRecord, history: readonly AuditEntry[]): Promise<void>;
  webhook(id: string): Promise<Webhook | undefined>;
  /** Up to `count` records with an id after `afterId`, by id. */
  page(afterId: string | null, count: number): Promise<readonly CustomerRecord[]>;
  history(id: string): Promise<readonly AuditEntry[]>;
  /** How many keys it has, revoked ones included; a few may be of nobody whose id begins alike. */
  keyCount(id: string): Promise<number>;
}
