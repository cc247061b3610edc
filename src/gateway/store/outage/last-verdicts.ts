import { customerOf } from '../records/customer-id.js';
import type { AdmissionRequest } from '../../admission/port.js';
import type { NamedFigures, StandingVerdict, Verdict } from '../../admission/verdict.js';

/** How often it is written down that the cached record of a key which goes on asking still holds. */
export const RENEW_MS = 3_600_000;
/** Keys remembered; beyond it those seen first are forgotten. */
const MOST_KEYS = 50_000;
/** Ids that were refused, waiting for a look whether the cache calls them good. */
const MOST_REFUSED = 500;

/** The last verdict of Redis about a key, as this process saw it. */
export interface LastVerdict {
  verdict: StandingVerdict;
  /** Windows beside minute and day by name, each as the last verdict showed it that was about one; null without any. */
  more: Map<string, SeenWindow> | null;
  /** When it came, this machine's clock. */
  atMs: number;
  /** When the cached record is due to be renewed, of `performance.now()`. */
  dueAtMs: number;
}

/** A window as a verdict showed it; `atMs` is the store's clock then. */
interface SeenWindow {
  readonly figures: NamedFigures;
  readonly atMs: number;
}

/** The last verdict of each key, and which cached records are due: all that the hot path does for the failover. */
export class LastVerdicts {
  readonly #last = new Map<string, LastVerdict>();
  /** The last about any key of each customer: their figures are the customer's. */
  readonly #ofCustomers = new Map<string, LastVerdict>();
  readonly #due = new Set<string>();
  readonly #refused = new Set<string>();

  /** Remembers each key with its newest verdict. */
  note(requests: readonly AdmissionRequest[], verdicts: readonly (Verdict | undefined)[]): void {
    const nowMs = Date.now();
    for (let place = 0; place < requests.length; place += 1) {
      const { subject } = requests[place]!;
      const verdict = verdicts[place];
      if (subject.kind !== 'key' || verdict === undefined) continue;
      if (verdict.outcome !== 'unknown_key') {
        this.#see(subject.id, verdict, nowMs);
        const customerId = customerOf(subject.id);
        if (customerId !== null) this.#seeCustomer(customerId, verdict, nowMs);
      } else if (this.#refused.size < MOST_REFUSED) this.#refused.add(subject.id);
    }
  }

  #see(keyId: string, verdict: StandingVerdict, nowMs: number): void {
    const known = this.#last.get(keyId);
    const tickMs = performance.now();
    if (known !== undefined) {
      const isSame = known.verdict.recordVersion === verdict.recordVersion;
      known.verdict = verdict;
      known.atMs = nowMs;
      if (verdict.more.length > 0) known.more = withSeen(known.more, verdict);
      if (isSame && tickMs < known.dueAtMs) return;
      known.dueAtMs = tickMs + RENEW_MS;
    } else {
      if (this.#last.size >= MOST_KEYS) this.forget(this.#last.keys().next().value!);
      const more = verdict.more.length > 0 ? withSeen(null, verdict) : null;
      this.#last.set(keyId, { verdict, more, atMs: nowMs, dueAtMs: tickMs + RENEW_MS });
    }
    this.#due.add(keyId);
  }

  #seeCustomer(customerId: string, verdict: StandingVerdict, atMs: number): void {
    const known = this.#ofCustomers.get(customerId);
    if (known === undefined) {
      if (this.#ofCustomers.size >= MOST_KEYS) this.forget(this.#ofCustomers.keys().next().value!);
      this.#due.add(customerId);
    }
    const more = verdict.more.length > 0 ? withSeen(known?.more ?? null, verdict) : (known?.more ?? null);
    this.#ofCustomers.set(customerId, { verdict, more, atMs, dueAtMs: 0 });
  }

  of(keyId: string): Readonly<LastVerdict> | undefined {
    return this.#last.get(keyId);
  }

  /** The last about any key of a customer. */
  ofCustomer(customerId: string): Readonly<LastVerdict> | undefined {
    return this.#ofCustomers.get(customerId);
  }

  /** All keys that there is one of. */
  keyIds(): readonly string[] {
    return [...this.#last.keys()];
  }

  /** What was seen of the key or the customer holds no more. */
  forget(id: string): void {
    this.#last.delete(id);
    this.#ofCustomers.delete(id);
  }

  /** Its cached record is due, a key's or a customer's. */
  due(id: string): void {
    this.#due.add(id);
  }

  /** Takes out up to `most` ids of keys and customers whose cached record is due: new, changed, or old. */
  takeDue(most: number): readonly string[] {
    return taken(this.#due, most);
  }

  /** Takes out the ids that were refused. */
  takeRefused(): readonly string[] {
    return taken(this.#refused, MOST_REFUSED);
  }
}

function withSeen(seen: LastVerdict['more'], { more, atMs }: StandingVerdict): Map<string, SeenWindow> {
  const all = seen ?? new Map<string, SeenWindow>();
  for (const figures of more) all.set(figures.name, { figures, atMs });
  return all;
}

function taken(ids: Set<string>, most: number): readonly string[] {
  const some: string[] = [];
  for (const id of ids) {
    if (some.length === most) break;
    some.push(id);
  }
  for (const id of some) ids.delete(id);
  return some;
}
