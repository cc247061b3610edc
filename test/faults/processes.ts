import type { Test } from 'tap';
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DAY_MS } from '../../src/gateway/admission/bucket.js';
import type { AdmissionEngine } from '../../src/gateway/admission/port.js';
import { custom, dayName, newKey, rowsOf } from '../conformance/cast.js';
import type { Actor } from '../conformance/cast.js';
import { openEngine } from '../conformance/open.js';
import type { Choice } from '../conformance/open.js';
import type { Order, Outcome } from './asker.js';

const ASKER = fileURLToPath(new URL('asker.js', import.meta.url));
const PROCESSES = 3;
const REPETITIONS = 20;
const BATCHES = [1, 16, 5];

/** Several processes on one store: together they admit the limit, not one more and not one less. */
export async function exactWithManyProcesses(t: Test, choice: Choice): Promise<void> {
  const engine = openEngine(choice);
  t.teardown(() => engine.close());
  await engine.check();
  const askers = await Promise.all(Array.from({ length: PROCESSES }, () => startAsker(choice)));
  t.teardown(() => Promise.all(askers.map(dismiss)));

  t.test('400 at once on one Free key: 60 admitted, 340 refused, 60 in the ledger', async (t) => {
    await repeat(t, engine, askers, 60, () => newKey(engine, 'free'));
  });
  t.test('a day of 137 beside a minute of 500: 137', async (t) => {
    await repeat(t, engine, askers, 137, () => newKey(engine, 'enterprise', custom(500, 137)));
  });
}

async function repeat(
  t: Test,
  engine: AdmissionEngine,
  askers: readonly ChildProcess[],
  limit: number,
  make: () => Promise<Actor>,
): Promise<void> {
  const total = 400;
  let deviations = 0;
  for (let n = 0; n < REPETITIONS; n += 1) {
    await awayFromMidnight();
    const key = await make();
    const shares = askers.map((_, place) => Math.floor(total / PROCESSES) + (place < total % PROCESSES ? 1 : 0));
    const outcomes = await Promise.all(
      askers.map((asker, place) =>
        tell(asker, {
          subject: key.subject,
          times: shares[place] ?? 0,
          batch: BATCHES[(place + n) % BATCHES.length] ?? 1,
        }),
      ),
    );
    const admitted = outcomes.reduce((sum, each) => sum + each.admitted, 0);
    const refused = outcomes.reduce((sum, each) => sum + each.refused, 0);
    const today = dayName(Date.now());
    const ledger = (await rowsOf(engine, today, today, key.id)).reduce((sum, row) => sum + row.requests, 0);
    if (admitted !== limit || refused !== total - limit || ledger !== limit) {
      deviations += 1;
      t.comment(`repetition ${n}: ${admitted} admitted, ${refused} refused, ${ledger} in the ledger`);
    }
  }
  t.equal(deviations, 0, `${REPETITIONS} repetitions without a deviation`);
}

/** A day that turns in the middle would rightly give a second bucket. */
async function awayFromMidnight(): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < 5_000) await sleep(leftMs + 100);
}

async function startAsker(choice: Choice): Promise<ChildProcess> {
  const asker = fork(ASKER, [JSON.stringify(choice)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await once(asker, 'message');
  return asker;
}

async function tell(asker: ChildProcess, order: Order): Promise<Outcome> {
  const answer = once(asker, 'message');
  asker.send(order);
  const [outcome] = (await answer) as [Outcome];
  return outcome;
}

async function dismiss(asker: ChildProcess): Promise<void> {
  const gone = once(asker, 'exit');
  asker.disconnect();
  await gone;
}
