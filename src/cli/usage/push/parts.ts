import type { AdminClient } from '../../client.js';
import type { Progress } from '../../progress.js';
import type { Receiver } from './deliver.js';
import type { PayerOf, PushMode } from './event.js';

/** What is pushed where. */
export interface PushParts {
  readonly client: AdminClient;
  readonly receiver: Receiver;
  readonly mode: PushMode;
  /** Begins with `key,day`. */
  readonly by: string;
  readonly source: string;
  readonly payerOf: PayerOf;
  /** Events per request. */
  readonly batch: number;
  readonly stateFile: string;
  readonly progress: Progress;
}
