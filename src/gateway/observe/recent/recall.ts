import type { RecentExchange } from './exchange.js';
import type { Question, RecentExchanges } from './memory.js';

/** What all processes of this gateway remember. */
export interface Recalled {
  /** The last first. */
  readonly exchanges: readonly RecentExchange[];
  /** Processes that did not answer in time, and may remember more. */
  readonly silent: number;
}

/** Asks all processes of this gateway. Never rejects. */
export type Recall = (question: Question) => Promise<Recalled>;

/** Of a gateway that is one process. */
export function recallHere(recent: RecentExchanges): Recall {
  return (question) => Promise.resolve({ exchanges: recent.find(question), silent: 0 });
}
