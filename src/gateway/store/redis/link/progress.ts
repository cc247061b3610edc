import type { KnownStore } from '../../known-store.js';

/** What a failover may lose unnoticed: changes no older than this, unless they remove rights. */
const SETTLED_MS = 60_000;

/** What a mark has counted. */
interface Counted {
  /** Changes of records. */
  readonly changes: number;
  /** Changes that removed rights. */
  readonly restrictions: number;
}
interface KnownCounts extends Counted {
  /** Changes as they were at `atMs` of `performance.now()`; they count after `SETTLED_MS`. */
  readonly next: { readonly changes: number; readonly atMs: number };
}

/** How far the store was when it was last trusted, by its marks; remembered with its ID. */
export class StoreProgress {
  readonly #known: KnownStore;
  #accepted = 0;
  #marks = new Map<string, KnownCounts>();

  constructor(known: KnownStore) {
    this.#known = known;
    this.reload();
  }

  /** How often the store had been accepted. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Reads what other processes of this machine have learned. */
  reload(): void {
    const { accepted, marks } = this.#known.progress();
    if (accepted < this.#accepted) return;
    if (accepted > this.#accepted) this.#marks.clear();
    this.#accepted = accepted;
    for (const [mark, counted] of Object.entries(marks)) this.#raise(mark, counted);
  }

  /** Whether the mark has counted less than is known: then its state is older. */
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

  /** An operator accepted the store as it was: earlier counts are void. */
  reset(accepted: number): void {
    this.#accepted = accepted;
    this.#marks.clear();
    this.#save();
  }

  /** What a lost mark had counted, to be restored. */
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

  /** Saves what is known. If that fails, such as on a full disk, it is known until the process ends. */
  #save(): void {
    try {
      this.reload();
      const marks: Record<string, Counted> = {};
      for (const [mark, { changes, restrictions }] of this.#marks) marks[mark] = { changes, restrictions };
      this.#known.writeProgress({ accepted: this.#accepted, marks });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
    }
  }
}
