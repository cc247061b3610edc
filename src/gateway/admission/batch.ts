import { collectTurn } from '../../shared/turns/once-a-turn.js';
import { StoreUnavailable, type AdmissionRequest, type Decider } from './port.js';
import type { Verdict } from './verdict.js';

interface Waiting {
  readonly request: AdmissionRequest;
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: unknown) => void;
}

/** Largest batch one store call decides: bounds how long the store is busy with it. */
const MAX_BATCH = 256;

export interface Admission {
  admit(request: AdmissionRequest): Promise<Verdict>;
}

/**
 * Collects the requests of one event-loop turn into one store call: one round trip and one script run for all of them.
 * @param onBatch called with the size of each batch
 */
export function batchAdmission(engine: Decider, onBatch: (size: number) => void): Admission {
  const decideBatch = (batch: readonly Waiting[]): void => {
    onBatch(batch.length);
    engine.admit(batch.map(({ request }) => request)).then(
      (verdicts) => {
        for (let index = 0; index < batch.length; index += 1) batch[index]!.resolve(verdicts[index]!);
      },
      (error: unknown) => {
        const { decided = [], late = [], message = '' } = error instanceof StoreUnavailable ? error : {};
        batch.forEach((waiting, index) => {
          const [verdict, awaited] = [decided[index], late[index]];
          if (verdict !== undefined) waiting.resolve(verdict);
          else waiting.reject(awaited === undefined ? error : new StoreUnavailable(message, { late: [awaited] }));
        });
      },
    );
  };

  const decideSoon = collectTurn<Waiting>((waiting) => {
    for (let from = 0; from < waiting.length; from += MAX_BATCH) decideBatch(waiting.slice(from, from + MAX_BATCH));
  });

  return { admit: (request) => new Promise((resolve, reject) => decideSoon({ request, resolve, reject })) };
}
