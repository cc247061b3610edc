import { CUSTOMER_ID_LENGTH, customerOf } from '../records/customer-id.js';
import type { AdmissionRequest } from '../../admission/port.js';
import type { StandingVerdict, Verdict } from '../../admission/verdict.js';

/** How often the copy of a key that keeps sending requests is read again. */
export const RENEW_MS = 3_600_000;
/** Keys and customers remembered; beyond it those seen first are forgotten. */
const MAX_REMEMBERED = 50_000;
/** Forgotten at once: to find the first of a Map takes the longer, the more were deleted before it. */
const FORGOTTEN = MAX_REMEMBERED / 16;
const NONE: readonly number[] = [];

/** The last verdict of Redis about a key, or about any key of a customer, as this process saw it. */
export interface LastVerdict {
  verdict: StandingVerdict;
  /** By the name of a window, the last verdict that showed it. */
  readonly windows: Map<string, StandingVerdict>;
  /** When it came, this machine's clock. */
  atMs: number;
  /** How often a connection to Redis had been lost then: behind another one may be an older Redis. */
  losses: number;
  /** When to read the copy of the record again, by `performance.now()`. */
  dueAtMs: number;
}

/** The last verdict of each key and customer, and which copies are due: all that the hot path does for an outage. */
export class LastVerdicts {
  readonly #last = new Map<string, LastVerdict>();
  readonly #due = new Set<string>();
  readonly #losses: () => number;

  /** @param losses how often a connection to Redis was lost so far */
  constructor(losses: () => number) {
    this.#losses = losses;
  }

  /**
   * Remembers each key, and its customer, with its newest verdict. Gives the indexes of those of which it is unsure
   * whether the record is the newest: those not seen on this connection yet, or seen newer. `confirm` remembers them.
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

  /** Remembers those at these indexes, whose record is the newest. */
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
    // A clock that was set has made the copy look old, or will.
    const isSet = Math.abs(nowMs - last.atMs) > RENEW_MS;
    if (tickMs >= last.dueAtMs || isSet || last.verdict.recordVersion !== verdict.recordVersion) {
      last.dueAtMs = tickMs + RENEW_MS;
      this.#due.add(id);
    }
    last.verdict = verdict;
    last.atMs = nowMs;
    for (const { name } of verdict.windows) last.windows.set(name, verdict);
  }

  /** The last about a key, or about any key of a customer. */
  of(id: string): Readonly<LastVerdict> | undefined {
    return this.#last.get(id);
  }

  /** All keys that there is one of. */
  keyIds(): readonly string[] {
    return [...this.#last.keys()].filter((id) => id.length !== CUSTOMER_ID_LENGTH);
  }

  /** What was seen of the key or the customer no longer holds. */
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

  /** The copy of this key or customer is to be read. */
  due(id: string): void {
    this.#due.add(id);
  }

  /** Takes out up to `max` keys and customers whose copy is due: new, changed, or old. */
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
