import type { KnownStore } from '../../known-store.js';

/** A failover may lose changes of this age or less unnoticed, unless they remove rights. */
const SETTLED_MS = 60_000;

/** What a mark has counted. */
interface Counted {
  /** Changes of records. */
  readonly changes: number;
  /** Changes that removed rights. */
  readonly restrictions: number;
}
interface KnownCounts extends Counted {
  /** Changes at `atMs` of `performance.now()`, which count once they are older than `SETTLED_MS`. */
  readonly next: { readonly changes: number; readonly atMs: number };
}

/** How many changes each mark had counted when the store was last trusted; remembered with its ID. */
export class StoreProgress {
  readonly #known: KnownStore;
  /** How often the store had been accepted. */
  accepted = 0;
  #marks = new Map<string, KnownCounts>();

  constructor(known: KnownStore) {
    this.#known = known;
    this.reload();
  }

  /** Reads what other processes of this machine have learned. */
  reload(): void {
    const { accepted, marks } = this.#known.progress();
    if (accepted < this.accepted) return;
    if (accepted > this.accepted) this.#marks.clear();
    this.accepted = accepted;
    for (const [mark, counted] of Object.entries(marks)) this.#raise(mark, counted);
  }

  /** Returns whether the mark has counted less than is known: then its node has an older state. */
  isBehind(mark: string, { changes, restrictions }: Counted): boolean {
    const seen = this.#marks.get(mark);
    return seen !== undefined && (restrictions < seen.restrictions || changes < seen.changes);
  }

  /** Remembers a mark of a trusted store. */
  note(mark: string, { changes, restrictions }: Counted): void {
    const nowMs = performance.now();
    const seen = this.#marks.get(mark) ?? { changes: 0, restrictions: 0, next: { changes, atMs: nowMs } };
    const isSettled = nowMs - seen.next.atMs >= SETTLED_MS;
    const next = isSettled || changes < seen.next.changes ? { changes, atMs: nowMs } : seen.next;
    const settled = isSettled ? Math.max(seen.changes, seen.next.changes) : seen.changes;
    this.#marks.set(mark, { changes: settled, restrictions, next });
    if (settled > seen.changes || restrictions > seen.restrictions) this.#save();
  }

  /** Drops all counts, because an operator accepted the store as it was. */
  reset(accepted: number): void {
    this.accepted = accepted;
    this.#marks.clear();
    this.#save();
  }

  /** Returns what a lost mark had counted, to restore it. */
  of(mark: string): Counted {
    return this.#marks.get(mark) ?? { changes: 0, restrictions: 0 };
  }

  #raise(mark: string, { changes, restrictions }: Counted): void {
    const seen = this.#marks.get(mark);
    this.#marks.set(mark, {
      changes: Math.max(changes, seen?.changes ?? 0),
      restrictions: Math.max(restrictions, seen?.restrictions ?? 0),
      next: seen?.next ?? { changes, atMs: performance.now() },
    });
  }

  /** Saves what is known. If that fails, such as on a full disk, only this process knows it. */
  #save(): void {
    try {
      this.reload();
      const marks: Record<string, Counted> = {};
      for (const [mark, { changes, restrictions }] of this.#marks) marks[mark] = { changes, restrictions };
      this.#known.writeProgress({ accepted: this.accepted, marks });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
    }
  }
}
