/** A child process with an engine of its own that asks as it is told over IPC. See processes.ts. */
import { openEngine, type Choice } from '../../conformance/open.js';
import type { Subject } from '../../../src/gateway/admission/port.js';

export interface Order {
  /** Who asks, in turns. */
  readonly subjects: readonly Subject[];
  readonly cost: number;
  /** So many admissions at once … */
  readonly times: number;
  /** … in batches of this size. */
  readonly batch: number;
}
export interface Outcome {
  readonly admitted: number;
  readonly refused: number;
}

const engine = openEngine(JSON.parse(process.argv[2] ?? '') as Choice);
await engine.check();

process.on('message', (order: Order) => void obey(order));
process.once('disconnect', () => void engine.close());
process.send?.('ready');

async function obey({ subjects, cost, times, batch }: Order): Promise<void> {
  const batches: Promise<readonly { readonly outcome: string }[]>[] = [];
  for (let asked = 0; asked < times; asked += batch) {
    const size = Math.min(batch, times - asked);
    batches.push(
      engine.admit(
        Array.from({ length: size }, (_, place) => {
          const subject = subjects[(asked + place) % subjects.length]!;
          return { subject, operation: 'listPets', scope: null, cost };
        }),
      ),
    );
  }
  const verdicts = (await Promise.all(batches)).flat();
  const admitted = verdicts.filter((verdict) => verdict.outcome === 'admitted').length;
  process.send?.({ admitted, refused: verdicts.length - admitted } satisfies Outcome);
}
