import type { Question, RecentExchanges, Remembered } from './memory.js';

/** What all processes of this gateway remember. */
export interface Recalled extends Remembered {
  /** Processes that did not answer in time, and may remember more. */
  readonly silent: number;
}

/** Asks all processes of this gateway. Never rejects. */
export type Recall = (question: Question) => Promise<Recalled>;

/** Returns the recall of a gateway with one process. */
export function recallHere(recent: RecentExchanges): Recall {
  return (question) => Promise.resolve({ ...recent.answer(question), silent: 0 });
}
