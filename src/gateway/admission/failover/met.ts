import type { AdmissionRequest } from '../port.js';
import type { StandingVerdict, Verdict } from '../verdict.js';

/** How often it is written down that the copy of a key which goes on asking still holds. */
export const RENEW_MS = 3_600_000;
/** Keys remembered; beyond it those met first are forgotten, and met again. */
const MOST_KEYS = 50_000;
/** Ids that were refused, waiting for a look whether a copy of them must go. */
const MOST_DOUBTFUL = 500;

export interface Meeting {
  verdict: StandingVerdict;
  /** When the verdict came, this machine's clock. */
  atMs: number;
  /** When the copy is due, of `performance.now()`. */
  dueAtMs: number;
}

/** The keys that Redis decided about, as this process met them: all that the hot path does for the failover. */
export class Met {
  readonly #meetings = new Map<string, Meeting>();
  readonly #due = new Set<string>();
  readonly #doubtful = new Set<string>();

  /** Remembers each key with its newest verdict. */
  note(requests: readonly AdmissionRequest[], verdicts: readonly (Verdict | undefined)[]): void {
    const nowMs = Date.now();
    for (let place = 0; place < requests.length; place += 1) {
      const { subject } = requests[place]!;
      const verdict = verdicts[place];
      if (subject.kind !== 'key' || verdict === undefined) continue;
      if (verdict.outcome !== 'unknown_key') this.#meet(subject.id, verdict, nowMs);
      else if (this.#doubtful.size < MOST_DOUBTFUL) this.#doubtful.add(subject.id);
    }
  }

  #meet(keyId: string, verdict: StandingVerdict, nowMs: number): void {
    const known = this.#meetings.get(keyId);
    const tickMs = performance.now();
    if (known !== undefined) {
      const isSame = known.verdict.recordVersion === verdict.recordVersion;
      known.verdict = verdict;
      known.atMs = nowMs;
      if (isSame && tickMs < known.dueAtMs) return;
      known.dueAtMs = tickMs + RENEW_MS;
    } else {
      if (this.#meetings.size >= MOST_KEYS) this.forget(this.#meetings.keys().next().value!);
      this.#meetings.set(keyId, { verdict, atMs: nowMs, dueAtMs: tickMs + RENEW_MS });
    }
    this.#due.add(keyId);
  }

  seen(keyId: string): Readonly<Meeting> | undefined {
    return this.#meetings.get(keyId);
  }

  /** What was seen of the key holds no more. */
  forget(keyId: string): void {
    this.#meetings.delete(keyId);
  }

  /** Takes out up to `most` ids of keys whose copy is due. */
  takeDue(most: number): readonly string[] {
    return taken(this.#due, most);
  }

  /** Takes out the ids that were refused. */
  takeDoubtful(): readonly string[] {
    return taken(this.#doubtful, MOST_DOUBTFUL);
  }

  /** To be taken again later. */
  giveBack(keyIds: readonly string[]): void {
    for (const keyId of keyIds) this.#due.add(keyId);
  }
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
