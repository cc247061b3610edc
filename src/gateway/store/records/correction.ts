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

/** Whether any key or customer has corrections; reports then have columns for them. */
export async function areCorrected({
  keys,
  customers,
}: Record<'keys' | 'customers', Pick<CorrectedStore, 'corrected'>>): Promise<boolean> {
  const first = await Promise.all([keys, customers].map((store) => withRetry(() => store.corrected(null, 1))));
  return first.some((ids) => ids.length > 0);
}

export type CorrectedStore = Pick<RecordStore<StoredRecord, never>, 'corrected' | 'history'>;

/** Histories read per turn of the event loop. */
const AT_ONCE = 32;

export interface CorrectionsAsked {
  /** UTC days, inclusive. */
  readonly from?: string;
  readonly to?: string;
  /** IDs: only of this key, or of this customer and its keys. */
  readonly key?: string;
  readonly customer?: string;
}

/** Corrections of keys, then of customers, by ID, each in order of creation. */
export async function* correctionsOf(
  store: CorrectedStore,
  { from = '', to = '9999', key, customer }: CorrectionsAsked,
  after: string | null = null,
): AsyncGenerator<readonly CorrectionOf[]> {
  const first = key ?? customer ?? '';
  for (let afterId = after ?? predecessor(first); ;) {
    const begin = afterId;
    const ids = await withRetry(() => store.corrected(begin, AT_ONCE));
    const wanted = ids.filter(
      (id) =>
        (key === undefined || id === key) && (customer === undefined || id === customer || customerOf(id) === customer),
    );
    const histories = await Promise.all(wanted.map((id) => withRetry(() => store.history(id))));
    const found = histories.flatMap((history, n) =>
      correctionsIn(history).map((correction) => ({ ...correction, subject: wanted[n]! })),
    );
    yield found.filter(({ day }) => from <= day && day <= to);
    if (ids.length < AT_ONCE || ids.at(-1)!.slice(0, first.length) > first) return;
    afterId = ids.at(-1)!;
  }
}

/**
 * Returns a text that sorts directly before this ID and after all smaller IDs, because no ID has a `~`. Null for an
 * empty ID.
 */
function predecessor(id: string): string | null {
  const last = id.length - 1;
  return id === '' ? null : `${id.slice(0, last)}${String.fromCharCode(id.charCodeAt(last) - 1)}~`;
}
