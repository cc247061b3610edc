import t from 'tap';
import { collectFailures } from '../../../src/gateway/admission/failures.js';
import { StoreUnavailable } from '../../../src/gateway/admission/port.js';
import type { AdmissionEngine, Failure } from '../../../src/gateway/admission/port.js';
import { until } from '../../servers/until.js';
import { newKey, openScratchEngine } from './scratch.js';

const DAY_MS = 86_400_000;

async function failedOf(engine: AdmissionEngine, keyId: string): Promise<number> {
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  let failed = 0;
  for await (const rows of engine.usage.rows(day(Date.now() - DAY_MS), day(Date.now() + DAY_MS), keyId)) for (const row of rows) failed += row.failed;
  return failed;
}

/** The engine, whose `fail` goes wrong as long as `away` holds. */
function flaky(engine: AdmissionEngine): { engine: AdmissionEngine; calls: number; away: boolean } {
  const state = { engine, calls: 0, away: false };
  state.engine = new Proxy(engine, {
    get: (target, name: keyof AdmissionEngine) => (name !== 'fail' ? Reflect.get(target, name) as unknown : (batch: readonly Failure[]) => {
      state.calls += 1;
      return state.away ? Promise.reject(new StoreUnavailable('away')) : target.fail(batch);
    }),
  });
  return state;
}

t.test('credits of one turn are one call, and stand in the ledger', async (t) => {
  const engine = openScratchEngine(t);
  const store = flaky(engine);
  const key = await newKey(engine);
  const failures = collectFailures(store.engine, () => t.fail('nothing is dropped'));
  const failure = { keyId: key.id, plan: 'free', operation: 'listPets', admittedAtMs: Date.now() };
  for (let n = 0; n < 5; n += 1) failures.add(failure);
  await until('they are written', async () => (await failedOf(engine, key.id)) === 5);
  t.equal(store.calls, 1);
  failures.add(failure);
  t.equal(await failures.flush(), 0, 'a flush leaves nothing');
  t.equal(await failedOf(engine, key.id), 6);
});

t.test('while the store is away credits wait, and are written once when it is back', async (t) => {
  const engine = openScratchEngine(t);
  const store = flaky(engine);
  const key = await newKey(engine);
  const failures = collectFailures(store.engine, () => t.fail('nothing is dropped'));
  const failure = { keyId: key.id, plan: 'free', operation: 'listPets', admittedAtMs: Date.now() };
  store.away = true;
  for (let n = 0; n < 3; n += 1) failures.add(failure);
  await until('it was tried', () => store.calls === 1);
  failures.add(failure);
  t.equal(await failures.flush(), 4, 'a flush tells how many are left');
  await until('the turn of the last one was tried too', () => store.calls === 3);
  store.away = false;
  await until('they are written by themselves', async () => (await failedOf(engine, key.id)) > 0);
  t.equal(await failedOf(engine, key.id), 4, 'each once');
  t.equal(await failures.flush(), 0);
});

t.test('when the store stays away too long the oldest are dropped, and it is said', async (t) => {
  const engine = openScratchEngine(t);
  const store = flaky(engine);
  store.away = true;
  let dropped = 0;
  const failures = collectFailures(store.engine, (count) => (dropped += count));
  for (let n = 0; n < 100_010; n += 1) failures.add({ keyId: 'k', plan: 'free', operation: 'listPets', admittedAtMs: n });
  t.equal(await failures.flush(), 100_000);
  t.equal(dropped, 10);
});
