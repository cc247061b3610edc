import { customerOf, isCustomer } from '../records/customer-id.js';
import type { AdmissionRequest } from '../../admission/port.js';
import type { StandingVerdict, Verdict } from '../../admission/verdict.js';

/** How often the copy of a key that keeps sending requests is read again. */
export const RENEW_MS = 3_600_000;
/** Keys and customers remembered; beyond that, those seen first are forgotten. */
const MAX_REMEMBERED = 50_000;
/** Forgotten together: finding the first entry of a Map takes longer the more entries before it were deleted. */
const FORGOTTEN = MAX_REMEMBERED / 16;
const NONE: readonly number[] = [];

/** Redis's last verdict for a key, or for any key of a customer, as this process saw it. */
export interface LastVerdict {
  verdict: StandingVerdict;
  /** By window name, the last verdict that showed the window. */
  readonly windows: Map<string, StandingVerdict>;
  /** When it arrived, by this machine's clock. */
  atMs: number;
  /** How many connections to Redis had been lost by then: a new one may lead to an older Redis. */
  losses: number;
  /** When to copy the record again, by `performance.now()`. */
  dueAtMs: number;
}

/** Remembers the last verdict of each key and customer, and which copies are due: all the hot path does for outages. */
export class LastVerdicts {
  readonly #last = new Map<string, LastVerdict>();
  readonly #due = new Set<string>();
  readonly #losses: () => number;

  /** @param losses returns how many connections to Redis have been lost */
  constructor(losses: () => number) {
    this.#losses = losses;
  }

  /**
   * Remembers the verdict of each key and its customer, except where the record may not be the newest: not yet seen on
   * this connection, or seen newer. Returns the indexes of these; `confirm` remembers them.
   */
  note(requests: readonly AdmissionRequest[], verdicts: readonly (Verdict | undefined)[]): readonly number[] {
    const [nowMs, losses] = [Date.now(), this.#losses()];
    let unsure: number[] | undefined;
    for (let index = 0; index < requests.length; index += 1) {
      const { subject } = requests[index]!;
      const verdict = verdicts[index];
      if (subject.kind !== 'key' || verdict === undefined || verdict.outcome === 'unknown_key') continue;
      const last = this.#last.get(subject.id);
      const customerId = customerOf(subject.id);
      const ofCustomer = customerId === null ? last : this.#last.get(customerId);
      if (
        last?.losses !== losses ||
        ofCustomer?.losses !== losses ||
        (verdict.recordVersion ?? 0) < (last.verdict.recordVersion ?? 0)
      ) {
        (unsure ??= []).push(index);
        continue;
      }
      this.#renew(subject.id, last, verdict, nowMs);
      if (customerId !== null) this.#renew(customerId, ofCustomer, verdict, nowMs);
    }
    return unsure ?? NONE;
  }

  /** Remembers the verdicts at these indexes, whose record is the newest. */
  confirm(
    requests: readonly AdmissionRequest[],
    verdicts: readonly (Verdict | undefined)[],
    indexes: readonly number[],
  ): void {
    const nowMs = Date.now();
    for (const index of indexes) {
      const { subject } = requests[index]!;
      const verdict = verdicts[index];
      if (subject.kind !== 'key' || verdict === undefined || verdict.outcome === 'unknown_key') continue;
      this.#note(subject.id, verdict, nowMs);
      const customerId = customerOf(subject.id);
      if (customerId !== null) this.#note(customerId, verdict, nowMs);
    }
  }

  #note(id: string, verdict: StandingVerdict, nowMs: number): void {
    let last = this.#last.get(id);
    if (last === undefined) {
      if (this.#last.size >= MAX_REMEMBERED) this.#forgetFirst();
      this.#last.set(id, (last = { verdict, windows: new Map(), atMs: nowMs, losses: 0, dueAtMs: 0 }));
    }
    last.losses = this.#losses();
    this.#renew(id, last, verdict, nowMs);
  }

  #renew(id: string, last: LastVerdict, verdict: StandingVerdict, nowMs: number): void {
    const tickMs = performance.now();
    // The clock was set, so the copy looks too old, or will.
    const isSet = Math.abs(nowMs - last.atMs) > RENEW_MS;
    if (tickMs >= last.dueAtMs || isSet || last.verdict.recordVersion !== verdict.recordVersion) {
      last.dueAtMs = tickMs + RENEW_MS;
      this.#due.add(id);
    }
    last.verdict = verdict;
    last.atMs = nowMs;
    for (const { name } of verdict.windows) last.windows.set(name, verdict);
  }

  /** Returns the last verdict for a key, or for any key of a customer. */
  of(id: string): Readonly<LastVerdict> | undefined {
    return this.#last.get(id);
  }

  /** Returns the IDs of all keys with a last verdict. */
  keyIds(): readonly string[] {
    return [...this.#last.keys()].filter((id) => !isCustomer(id));
  }

  /** Forgets the verdict of a changed key or customer. */
  forget(id: string): void {
    this.#last.delete(id);
  }

  #forgetFirst(): void {
    let left = FORGOTTEN;
    for (const id of this.#last.keys()) {
      if (left === 0) return;
      this.#last.delete(id);
      left -= 1;
    }
  }

  /** Marks the copy of this key or customer as due. */
  due(id: string): void {
    this.#due.add(id);
  }

  /** Removes and returns up to `max` keys and customers whose copy is due: missing, changed or old. */
  takeDue(max: number): readonly string[] {
    const ids: string[] = [];
    for (const id of this.#due) {
      if (ids.length === max) break;
      ids.push(id);
    }
    for (const id of ids) this.#due.delete(id);
    return ids;
  }
}
