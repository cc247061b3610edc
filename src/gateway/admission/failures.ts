import type { AdmissionEngine, Failure } from './port.js';

/** How long a credit that the store did not take waits before it is offered again. */
const RETRY_MS = 1000;
/** Credits kept while the store is away; beyond it the oldest are dropped, and told to `onDropped`. */
const MAX_WAITING = 100_000;

export interface Failures {
  add(failure: Failure): void;
  /** Writes what is left; gives how many could not be written. */
  flush(): Promise<number>;
}

/** Collects the 5xx ends of one event-loop turn into one store call. A lost one only costs a client its credit. */
export function collectFailures(engine: AdmissionEngine, onDropped: (count: number) => void): Failures {
  let waiting: Failure[] = [];
  let scheduled = false;
  let again: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    scheduled = false;
    clearTimeout(again);
    again = undefined;
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    try {
      await engine.fail(batch);
    } catch {
      waiting = [...batch, ...waiting];
      if (waiting.length > MAX_WAITING) onDropped(waiting.splice(0, waiting.length - MAX_WAITING).length);
      again ??= setTimeout(start, RETRY_MS).unref();
    }
  };
  const start = (): void => {
    writing = writing.then(write);
  };
  return {
    add: (failure) => {
      waiting.push(failure);
      if (scheduled) return;
      scheduled = true;
      setImmediate(start);
    },
    flush: async () => {
      start();
      await writing;
      return waiting.length;
    },
  };
}
