import { randomBytes } from 'node:crypto';

/** How long the answer of a form is kept for a browser that sends it again, as after a second click. */
const REPLAY_MS = 60_000;
/** How long it is remembered that a form was sent. */
const REMEMBER_MS = 3_600_000;
/** Beyond it the oldest is forgotten. */
const MAX_REMEMBERED = 10_000;
const MAX_ANSWERS = 100;

interface Submission<Answer> {
  readonly atMs: number;
  /** Null once it is not kept any more. */
  answer: Promise<Answer> | null;
}

/** Forms that were sent: each does its work once, however often it comes. */
export class Submissions<Answer> {
  readonly #sent = new Map<string, Submission<Answer>>();
  readonly #kept: Submission<Answer>[] = [];

  /** For a hidden field of a form that is shown. */
  newId(): string {
    return randomBytes(12).toString('base64url');
  }

  /**
   * What `act` gives; of a form that came already what it gave then, or null where that is not kept any more. One that
   * failed may come again.
   * @param id of one session: what another sees is none of its own
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

  /** Lets it be sent again: nothing came of it but a page that says what to put right. */
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
