import type { Test } from 'tap';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DAY_MS } from '../../../src/gateway/admission/bucket.js';
import type { AdmissionEngine } from '../../../src/gateway/store/port.js';
import { custom, dayName, keyOf, newCustomer, newKey, rowsOf, type Actor } from '../../conformance/cast.js';
import { openEngine, type Choice } from '../../conformance/open.js';
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
    await repeat(t, engine, askers, 60, async () => [await newKey(engine, 'free')]);
  });
  t.test('a day of 137 beside a minute of 500: 137', async (t) => {
    await repeat(t, engine, askers, 137, async () => [await newKey(engine, 'enterprise', custom(500, 137))]);
  });
  t.test('400 at once on ten keys of a customer on Free: 60 admitted, and the keys add up to them', async (t) => {
    await repeat(t, engine, askers, 60, () => keysOfCustomer(engine));
  });
  t.test('the same where each costs 7: 8 admitted, 56 units', async (t) => {
    await repeat(t, engine, askers, 8, () => keysOfCustomer(engine), 7);
  });
}

/** Ten keys that share a minute of 60. */
async function keysOfCustomer(engine: AdmissionEngine): Promise<readonly Actor[]> {
  const { id } = await newCustomer(engine, 'free');
  return Promise.all(Array.from({ length: 10 }, () => keyOf(engine, id)));
}

async function repeat(
  t: Test,
  engine: AdmissionEngine,
  askers: readonly ChildProcess[],
  limit: number,
  make: () => Promise<readonly Actor[]>,
  cost = 1,
): Promise<void> {
  const total = 400;
  let deviations = 0;
  for (let n = 0; n < REPETITIONS; n += 1) {
    await awayFromMidnight();
    const keys = await make();
    const shares = askers.map((_, place) => Math.floor(total / PROCESSES) + (place < total % PROCESSES ? 1 : 0));
    const outcomes = await Promise.all(
      askers.map((asker, place) =>
        tell(asker, {
          subjects: keys.map(({ subject }) => subject),
          cost,
          times: shares[place] ?? 0,
          batch: BATCHES[(place + n) % BATCHES.length] ?? 1,
        }),
      ),
    );
    const admitted = outcomes.reduce((sum, each) => sum + each.admitted, 0);
    const refused = outcomes.reduce((sum, each) => sum + each.refused, 0);
    const today = dayName(Date.now());
    const rows = (await Promise.all(keys.map(({ id }) => rowsOf(engine, today, today, id)))).flat();
    const ledger = rows.reduce((sum, row) => sum + row.requests, 0);
    const units = rows.reduce((sum, row) => sum + row.units, 0);
    if (admitted !== limit || refused !== total - limit || ledger !== limit || units !== limit * cost) {
      deviations += 1;
      t.comment(`repetition ${n}: ${admitted} admitted, ${refused} refused, ${ledger} in the ledger, ${units} units`);
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
