import { customerOf } from './customer-id.js';
import { withRetry } from './retry.js';
import type { AuditEntry, RecordStore, StoredRecord } from './record.js';

/** An addition to, or subtraction from, the usage of a day. It is in the history of its key or customer. */
export interface Correction {
  /** From the caller, or random: each is applied once per key or customer. */
  readonly id: string;
  readonly day: string;
  /** The plan it is billed on. */
  readonly plan: string;
  readonly requests: number;
  readonly units: number;
  /** Empty after erasing. */
  readonly reason: string;
  readonly actor: string;
  readonly atMs: number;
}

/** A correction with the ID of its key or customer. */
export interface CorrectionOf extends Correction {
  readonly subject: string;
}

export function isCorrection({ action }: AuditEntry): boolean {
  return action === 'corrected';
}

/** Returns its fields as a history shows them. */
export function asHistoryShows({ id: correction, day, plan, requests, units, reason }: Correction) {
  return { correction, day, plan, requests, units, reason };
}

/** Erasing replaces the reason with null. */
type CorrectionInHistory = Omit<ReturnType<typeof asHistoryShows>, 'reason'> & { readonly reason: string | null };

/** The corrections of a history, in order. */
export function correctionsIn(history: readonly AuditEntry[]): readonly Correction[] {
  return history.filter(isCorrection).map(({ atMs, actor = '', changed }) => {
    const { correction, reason, ...figures } = changed as unknown as CorrectionInHistory;
    return { ...figures, id: correction, reason: reason ?? '', actor, atMs };
  });
}

type Corrected = Pick<RecordStore<StoredRecord, never>, 'corrected'>;

/** Whether any key or customer has corrections; reports then have columns for them. */
export async function areCorrected({ keys, customers }: Record<'keys' | 'customers', Corrected>): Promise<boolean> {
  const first = await Promise.all([keys, customers].map((store) => withRetry(() => store.corrected(null, 1))));
  return first.some((ids) => ids.length > 0);
}

/** Whether a key or customer belongs to this customer. */
export function isOf(customer: string, subject: string): boolean {
  return subject === customer || customerOf(subject) === customer;
}
