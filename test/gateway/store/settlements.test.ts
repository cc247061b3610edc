import t from 'tap';
import { collectSettlements } from '../../../src/gateway/store/settlements.js';
import { StoreUnavailable } from '../../../src/gateway/admission/port.js';
import type { AdmissionEngine, SettlementReport } from '../../../src/gateway/store/port.js';
import { until } from '../../servers/until.js';
import { newKey, openScratchEngine } from '../admission/scratch.js';

const DAY_MS = 86_400_000;

async function failedOf(engine: AdmissionEngine, keyId: string): Promise<number> {
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  let failed = 0;
  for await (const rows of engine.usage.rows(day(Date.now() - DAY_MS), day(Date.now() + DAY_MS), keyId))
    for (const row of rows) failed += row.failed;
  return failed;
}

/** The engine, whose `settle` goes wrong as long as `away` holds. */
function flaky(engine: AdmissionEngine): { engine: AdmissionEngine; calls: number; away: boolean } {
  const state = { engine, calls: 0, away: false };
  state.engine = new Proxy(engine, {
    get: (target, name: keyof AdmissionEngine) =>
      name !== 'settle'
        ? (Reflect.get(target, name) as unknown)
        : (batch: readonly SettlementReport[]) => {
            state.calls += 1;
            return state.away ? Promise.reject(new StoreUnavailable('away')) : target.settle(batch);
          },
  });
  return state;
}

t.test('failure reports of one turn are one call, and stand in the ledger', async (t) => {
  const engine = openScratchEngine(t);
  const store = flaky(engine);
  const key = await newKey(engine);
  const failures = collectSettlements(store.engine, () => t.fail('nothing is dropped'));
  const failure = { keyId: key.id, plan: 'free', operation: 'listPets', admittedAtMs: Date.now(), isFailed: true };
  for (let n = 0; n < 5; n += 1) failures.add(failure);
  await until('they are written', async () => (await failedOf(engine, key.id)) === 5);
  t.equal(store.calls, 1);
  failures.add(failure);
  t.equal(await failures.flush(), 0, 'a flush leaves nothing');
  t.equal(await failedOf(engine, key.id), 6);
});

t.test('while the store is unavailable failure reports wait, and are written once when it is back', async (t) => {
  const engine = openScratchEngine(t);
  const store = flaky(engine);
  const key = await newKey(engine);
  const failures = collectSettlements(store.engine, () => t.fail('nothing is dropped'));
  const failure = { keyId: key.id, plan: 'free', operation: 'listPets', admittedAtMs: Date.now(), isFailed: true };
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
  const failures = collectSettlements(store.engine, (count) => (dropped += count));
  for (let n = 0; n < 100_010; n += 1)
    failures.add({ keyId: 'k', plan: 'free', operation: 'listPets', admittedAtMs: Date.now(), isFailed: true });
  t.equal(await failures.flush(), 100_000);
  t.equal(dropped, 10);
});

t.test(
  'a failure report that the store may have taken is offered again as it was, and what came meanwhile after it',
  async (t) => {
    const offered: (readonly SettlementReport[])[] = [];
    let answers = [new StoreUnavailable('away', { accepted: [1] }), new StoreUnavailable('away')];
    const engine = {
      ...openScratchEngine(t),
      settle: (reports: readonly SettlementReport[]) => {
        offered.push(reports);
        const error = answers.shift();
        return error === undefined ? Promise.resolve() : Promise.reject(error);
      },
    };
    const failures = collectSettlements(engine, () => t.fail('nothing is dropped'));
    const failure = (keyId: string) => ({
      keyId,
      plan: 'free',
      operation: 'listPets',
      admittedAtMs: Date.now(),
      isFailed: true,
    });
    for (const keyId of ['a', 'b', 'a']) failures.add(failure(keyId));
    t.equal(await failures.flush(), 2, 'the key that was taken is done');
    for (const keyId of ['a', 'c']) failures.add(failure(keyId));
    t.equal(await failures.flush(), 4);
    answers = [];
    t.equal(await failures.flush(), 0);
    t.same(
      offered.map((reports) => reports.map(({ keyId, number, ended: its }) => `${keyId}${number}x${its.length}`)),
      [['a1x2', 'b2x1'], ['a1x2', 'c3x1'], ['a1x2', 'c3x1'], ['a4x1']],
    );
    t.equal(new Set(offered.flat().map(({ reporter }) => reporter)).size, 1);
  },
);

t.test('a failure report that would come after its day is final is dropped, and it is said', async (t) => {
  const store = flaky(openScratchEngine(t));
  store.away = true;
  let dropped = 0;
  let nowMs = Date.parse('2026-11-21T23:59:59Z');
  const failures = collectSettlements(
    store.engine,
    (count) => (dropped += count),
    () => nowMs,
  );
  failures.add({ keyId: 'k', plan: 'free', operation: 'listPets', admittedAtMs: nowMs, isFailed: true });
  t.equal(await failures.flush(), 1);
  nowMs += 50 * 60_000;
  failures.add({ keyId: 'k', plan: 'free', operation: 'listPets', admittedAtMs: nowMs, isFailed: true });
  t.same([await failures.flush(), dropped], [2, 0]);
  nowMs += 6 * 60_000;
  t.same([await failures.flush(), dropped], [1, 1], 'only that of the day before');
});
