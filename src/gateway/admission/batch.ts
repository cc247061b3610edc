import { StoreUnavailable } from './port.js';
import type { AdmissionRequest, Decider } from './port.js';
import type { Verdict } from './verdict.js';

interface Waiting {
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: unknown) => void;
}

/** Largest batch one store call decides: bounds how long the store is busy with it. */
const MAX_BATCH = 256;

export interface Admission {
  admit(request: AdmissionRequest): Promise<Verdict>;
}

/**
 * Collects the requests of one event-loop turn into one store call: one round trip and one script
 * run for all of them. `setImmediate` runs after all sockets that were ready in this turn were read.
 * @param onBatch called with the size of each batch
 */
export function batchAdmission(engine: Decider, onBatch: (size: number) => void): Admission {
  let requests: AdmissionRequest[] = [];
  let waiting: Waiting[] = [];

  const flush = (): void => {
    const batch = requests;
    const answers = waiting;
    requests = [];
    waiting = [];
    for (let from = 0; from < batch.length; from += MAX_BATCH) {
      decideBatch(batch.slice(from, from + MAX_BATCH), answers.slice(from, from + MAX_BATCH));
    }
  };

  const decideBatch = (batch: AdmissionRequest[], answers: Waiting[]): void => {
    onBatch(batch.length);
    engine.admit(batch).then(
      (verdicts) => {
        for (let index = 0; index < answers.length; index += 1) answers[index]!.resolve(verdicts[index]!);
      },
      (error: unknown) => {
        const { decided = [], late = [], message = '' } = error instanceof StoreUnavailable ? error : {};
        answers.forEach((answer, index) => {
          const [verdict, awaited] = [decided[index], late[index]];
          if (verdict !== undefined) answer.resolve(verdict);
          else answer.reject(awaited === undefined ? error : new StoreUnavailable(message, { late: [awaited] }));
        });
      },
    );
  };

  return {
    admit: (request) =>
      new Promise((resolve, reject) => {
        if (requests.length === 0) setImmediate(flush);
        requests.push(request);
        waiting.push({ resolve, reject });
      }),
  };
}
