import { Worker } from 'node:worker_threads';
import type { Plans } from '../../admission/plan.js';
import { AdminRefusal } from '../answer.js';
import { InTurn } from '../../../shared/turns/in-turn.js';

/** Three times the size of a thousand plans with prices. */
const FILE_BYTES = 2 ** 20;
const MAX_MS = 30_000;

/** Input of the thread: a plans file, and the contract's costs by operation. */
export interface PlanOrder {
  readonly bytes: Uint8Array;
  readonly costs: ReadonlyMap<string, number>;
}

interface ReadPlans {
  /** Null if there are problems. */
  readonly plans: Plans | null;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Output of the thread; a string explains why the body cannot be parsed. */
export type PlanOutcome = ReadPlans | string;

const threads = new InTurn();

/** Parses a plans file in a thread, because a large one takes seconds. One at a time, to use at most one CPU. */
export async function readPlans(costs: ReadonlyMap<string, number>, body: AsyncIterable<Buffer>): Promise<ReadPlans> {
  const bytes = await wholeOf(body);
  const outcome = await threads.run('', () => readApart({ bytes, costs }));
  if (typeof outcome === 'string') throw new AdminRefusal(400, 'invalid_body', outcome);
  return outcome;
}

function readApart(order: PlanOrder): Promise<PlanOutcome> {
  return new Promise((resolve) => {
    const thread = new Worker(new URL('./plans-thread.js', import.meta.url), { workerData: order });
    const tooLarge = `The plans take more memory, or more than ${MAX_MS / 1000} s, to read: send fewer at a time.`;
    const deadline = setTimeout(() => void thread.terminate(), MAX_MS);
    thread.on('message', resolve).on('error', () => undefined);
    thread.on('exit', () => {
      clearTimeout(deadline);
      resolve(tooLarge);
    });
  });
}

async function wholeOf(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > FILE_BYTES)
      throw new AdminRefusal(413, 'body_too_large', `The body is larger than ${FILE_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
