import type { Test } from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import type { RawAnswer } from '../servers/raw.js';
import type { Client } from '../e2e/client.js';

/** Headers of every so manieth answer of a kind are looked at: all would be more checking than asking. */
const LOOK_EVERY = 200;
/** A gateway that is unavailable refuses connections at once; without a pause nothing else would run. */
const AWAY_PAUSE_MS = 5;

export interface Load {
  /** Answers so far, by status or, of a refusal, its code; `broken` where the connection broke. */
  readonly tally: ReadonlyMap<string, number>;
  count(kind: string): number;
  /** The slowest answer so far, ms. */
  slowestMs(): number;
  /** Requests sent and not ended. */
  inFlight(): number;
  /** Lets what is in flight end. */
  stop(): Promise<void>;
}

/** Keeps `each` requests under way on every client, without a pause, until it is stopped. */
export function startLoad(t: Test, clients: readonly Client[], key: string, each: number): Load {
  const tally = new Map<string, number>();
  let inFlight = 0;
  let slowestMs = 0;
  let stopped = false;

  const ask = async (client: Client): Promise<void> => {
    while (!stopped) {
      const beganMs = performance.now();
      inFlight += 1;
      const answer = await client.send(key).catch(() => null);
      inFlight -= 1;
      slowestMs = Math.max(slowestMs, performance.now() - beganMs);
      const kind = answer === null ? 'broken' : kindOf(answer);
      const count = (tally.get(kind) ?? 0) + 1;
      tally.set(kind, count);
      if (answer === null) await new Promise((resolve) => setTimeout(resolve, AWAY_PAUSE_MS));
      else if (count % LOOK_EVERY === 1) checkHonest(t, answer, `${kind}, number ${count}`);
    }
  };
  const askers = clients.flatMap((client) => Array.from({ length: each }, () => ask(client)));
  return {
    tally,
    count: (kind) => tally.get(kind) ?? 0,
    slowestMs: () => slowestMs,
    inFlight: () => inFlight,
    stop: async () => {
      stopped = true;
      await Promise.all(askers);
    },
  };
}

/** The status, or the code of an Error body. */
export function kindOf(answer: RawAnswer): string {
  return answer.status < 400 ? String(answer.status) : codeOf(answer);
}
