import { customerOf } from './customer-id.js';
import type { Accounts } from '../ledger.js';
import { withRetry } from '../retry.js';
import type { AuditEntry } from './record.js';

/** What is to be added to, or taken from, the usage of a day. It stands in the history of whom it is about. */
export interface Correction {
  /** Given by whoever made it, or random: the same one is taken once. Of one key or customer. */
  readonly id: string;
  readonly day: string;
  /** On which it is reckoned. */
  readonly plan: string;
  readonly requests: number;
  readonly units: number;
  /** Empty once it was erased. */
  readonly reason: string;
  readonly actor: string;
  readonly atMs: number;
}

/** A correction with the id of the key or customer that it is of. */
export interface CorrectionOf extends Correction {
  readonly subject: string;
}

export function isCorrection({ action }: AuditEntry): boolean {
  return action === 'corrected';
}

/** What a history shows of it. */
export function asHistoryShows({ id: correction, day, plan, requests, units, reason }: Correction) {
  return { correction, day, plan, requests, units, reason };
}

/** Erasing leaves null in place of the reason. */
type CorrectionInHistory = Omit<ReturnType<typeof asHistoryShows>, 'reason'> & { readonly reason: string | null };

/** Those of a history, in their order. */
export function correctionsIn(history: readonly AuditEntry[]): readonly Correction[] {
  return history.filter(isCorrection).map(({ atMs, actor = '', changed }) => {
    const { correction, reason, ...figures } = changed as unknown as CorrectionInHistory;
    return { ...figures, id: correction, reason: reason ?? '', actor, atMs };
  });
}

/** Whether there is any at all: then reports have columns for them. */
export async function areCorrected({ keys, customers }: Accounts): Promise<boolean> {
  const first = await Promise.all([keys, customers].map((store) => withRetry(() => store.corrected(null, 1))));
  return first.some((ids) => ids.length > 0);
}

/** Whether what is said of a key, or of a customer, is about this customer. */
export function isOf(customer: string, subject: string): boolean {
  return subject === customer || customerOf(subject) === customer;
}
