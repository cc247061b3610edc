import { Worker } from 'node:worker_threads';
import type { Plans } from '../../admission/plan.js';
import { AdminRefusal } from '../answer.js';
import { InTurn } from '../../../shared/in-turn.js';

/** A thousand plans with prices are a third of it. */
const FILE_BYTES = 2 ** 20;
const MAX_MS = 30_000;

/** What a thread gets: a file of plans, and what operations cost by the contract. */
export interface PlanOrder {
  readonly bytes: Uint8Array;
  readonly costs: ReadonlyMap<string, number>;
}

interface ReadPlans {
  /** Null where there are problems. */
  readonly plans: Plans | null;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** What it sends back; a text says why the body is none. */
export type PlanOutcome = ReadPlans | string;

const threads = new InTurn();

/** Reads a file of plans in a thread: a large one takes seconds. One at a time, so that they take one processor. */
export async function readPlans(costs: ReadonlyMap<string, number>, body: AsyncIterable<Buffer>): Promise<ReadPlans> {
  const bytes = await wholeOf(body);
  const outcome = await threads.run('', () => readApart({ bytes, costs }));
  if (typeof outcome === 'string') throw new AdminRefusal(400, 'invalid_body', outcome);
  return outcome;
}

function readApart(order: PlanOrder): Promise<PlanOutcome> {
  return new Promise((resolve) => {
    const thread = new Worker(new URL('./plans-thread.js', import.meta.url), { workerData: order });
    const tooLarge = `The plans take more memory, or more than ${MAX_MS / 1000} s, to read: send fewer at once.`;
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
