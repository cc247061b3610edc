import { randomBytes } from 'node:crypto';

/** How long the response to a form is kept, in case the browser sends it again, as after a second click. */
const REPLAY_MS = 60_000;
/** How long a submission is remembered. */
const REMEMBER_MS = 3_600_000;
/** Beyond this, the oldest submission is forgotten. */
const MAX_REMEMBERED = 10_000;
const MAX_ANSWERS = 100;

interface Submission<Answer> {
  readonly atMs: number;
  /** Null once it has been dropped. */
  answer: Promise<Answer> | null;
}

/** Submitted forms. Each takes effect once, even if it is sent several times. */
export class Submissions<Answer> {
  readonly #sent = new Map<string, Submission<Answer>>();
  readonly #kept: Submission<Answer>[] = [];

  /** Returns an ID for a hidden field of a form. */
  newId(): string {
    return randomBytes(12).toString('base64url');
  }

  /**
   * Returns the result of `act`. For a repeated form, returns the earlier result, or null if it is no longer kept. If
   * `act` failed, the form may be sent again.
   * @param id must be unique to the session, so that no other session gets its result
   */
  async once(id: string, nowMs: number, act: () => Promise<Answer>): Promise<Answer | null> {
    this.#forget(nowMs);
    const before = this.#sent.get(id);
    if (before !== undefined) return before.answer;
    const submission: Submission<Answer> = { atMs: nowMs, answer: act() };
    this.#sent.set(id, submission);
    this.#kept.push(submission);
    try {
      return await submission.answer;
    } catch (error) {
      this.#sent.delete(id);
      throw error;
    }
  }

  /** Allows the form to be sent again, because it had no effect but a page that says what to correct. */
  release(id: string): void {
    this.#sent.delete(id);
  }

  #forget(nowMs: number): void {
    while (this.#kept.length > 0 && (this.#kept.length > MAX_ANSWERS || nowMs >= this.#kept[0]!.atMs + REPLAY_MS))
      this.#kept.shift()!.answer = null;
    for (const [id, { atMs }] of this.#sent) {
      if (this.#sent.size < MAX_REMEMBERED && nowMs < atMs + REMEMBER_MS) break;
      this.#sent.delete(id);
    }
  }
}
