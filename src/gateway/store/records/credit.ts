import type { AuditEntry } from './record.js';

/** An addition to a prepaid balance, or what was taken back of it. It is in the history of its key or customer. */
export interface Credit {
  /** From the caller: each is applied once per key or customer. */
  readonly id: string;
  /** Below 0: taken back. */
  readonly units: number;
  /** Empty if there is none; null after erasing. */
  readonly note: string | null;
  readonly actor: string;
  readonly atMs: number;
  /** All credits up to this one. */
  readonly sum: number;
}

/** The credits of a history, in order. */
export function creditsIn(history: readonly AuditEntry[]): readonly Credit[] {
  return history.filter(isCredit).map(({ atMs, actor = '', changed }) => {
    const {
      credit,
      units,
      sum,
      note = '',
    } = changed as unknown as {
      readonly credit: string;
      readonly units: number;
      readonly sum: number;
      readonly note?: string | null;
    };
    return { id: credit, units, note, actor, atMs, sum };
  });
}

/** Returns how much of a balance may be spent when this entry is written; undefined if that does not matter. */
export function maxSpent({ action, changed }: AuditEntry): number | undefined {
  const { units, sum } = changed;
  return action === 'credited' && Number(units) < 0 ? Number(sum) : undefined;
}

function isCredit({ action }: AuditEntry): boolean {
  return action === 'credited';
}
