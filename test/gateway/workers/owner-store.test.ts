import t from 'tap';
import type { Test } from 'tap';
import { StoreUnavailable } from '../../../src/gateway/admission/port.js';
import { answerWorker, type StoreCall, type StoreReply } from '../../../src/gateway/workers/owner.js';
import { storeOfOwner } from '../../../src/gateway/workers/owner-store.js';
import type { AdmissionEngine, ServingEngine } from '../../../src/gateway/store/port.js';
import type { UsageRow } from '../../../src/gateway/store/records/counts.js';
import { VersionConflict } from '../../../src/gateway/store/records/conflicts.js';
import { ask, askMany, newKey, NOON_MS, requestOf, type Actor } from '../../conformance/cast.js';
import { openStore } from '../accounts/store.js';

const DAYS = ['2020-01-01', '2999-12-31'] as const;

/** A worker's store over an engine; `pass` says what gets through, after structured clones as between processes. */
function workerOf(
  engine: AdmissionEngine,
  pass: (deliver: () => void) => void = (deliver) => deliver(),
): { readonly worker: ServingEngine; readonly sent: () => number } {
  let sent = 0;
  const { engine: worker, answered } = storeOfOwner('embedded', (call: StoreCall) => {
    sent += 1;
    pass(() => answer(structuredClone(call)));
  });
  const answer = answerWorker(engine, (reply: StoreReply) => answered(structuredClone(reply)));
  return { worker, sent: () => sent };
}

async function rowsOf(worker: ServingEngine, key?: Actor): Promise<readonly UsageRow[]> {
  const rows = [];
  for await (const some of worker.usage.rows(...DAYS, key?.id)) rows.push(...some);
  return rows;
}

t.test('a worker decides, reads and changes as the owner does', async (t: Test) => {
  const { engine } = openStore(t);
  const { worker } = workerOf(engine);
  const key = await newKey(engine, 'free');
  t.match(await worker.admit([requestOf(key.subject, NOON_MS)]), [{ outcome: 'admitted', keyId: key.id }]);
  t.match(await ask(engine, key, NOON_MS), { outcome: 'admitted' });
  t.match(await rowsOf(worker, key), [{ key: key.id, requests: 2 }]);
  t.match(await worker.keys.read(key.id), { id: key.id });
  t.equal(await worker.keys.read('nobody'), undefined);
  const changed = { ...key.record, name: 'other', version: key.record.version + 1 };
  await worker.keys.write(changed, { atMs: NOON_MS, action: 'changed', changed: {} });
  await t.rejects(worker.keys.write(changed, { atMs: NOON_MS, action: 'changed', changed: {} }), VersionConflict);
  t.same(Buffer.from(await worker.sessionSecret.read()), await engine.sessionSecret.read());
});

t.test('a ledger is read as far as the worker goes', async (t: Test) => {
  const { engine } = openStore(t);
  const { worker, sent } = workerOf(engine);
  for (let n = 0; n < 300; n += 1) await ask(engine, await newKey(engine, 'free'), NOON_MS);
  t.equal((await rowsOf(worker)).length, 300);
  const before = sent();
  for await (const rows of worker.usage.rows(...DAYS)) {
    t.ok(rows.length < 300);
    break;
  }
  t.equal(sent() - before, 2, 'once for rows, once to end');
});

t.test('an owner that hangs: 503 within a second, and it is asked a thousand times at the most', async (t: Test) => {
  const { engine } = openStore(t);
  const held: (() => void)[] = [];
  let hangs = false;
  const { worker, sent } = workerOf(engine, (deliver) => (hangs ? held.push(deliver) : deliver()));
  const key = await newKey(engine, 'free');
  await askMany(engine, key, 2, NOON_MS);
  hangs = true;
  const began = performance.now();
  const asked = Array.from({ length: 1_000 }, () => worker.admit([requestOf(key.subject, NOON_MS, { cost: 0 })]));
  await t.rejects(worker.admit([requestOf(key.subject, NOON_MS)]), { name: 'StoreUnavailable', noEffect: true });
  t.equal(sent(), 1_000);
  const [first] = await Promise.allSettled(asked);
  const error: unknown = first?.status === 'rejected' ? first.reason : undefined;
  if (!(error instanceof StoreUnavailable)) throw new Error('expected StoreUnavailable');
  t.ok(performance.now() - began > 800);
  hangs = false;
  for (const deliver of held) deliver();
  t.match(await error.late[0], { outcome: 'admitted' }, 'what became of it is told');
  t.match(await worker.admit([requestOf(key.subject, NOON_MS)]), [{ outcome: 'admitted' }]);
});

t.test('of a batch that failed in part a worker learns what was decided, and what is later', async (t: Test) => {
  const { engine } = openStore(t);
  const key = await newKey(engine, 'free');
  const [verdict] = await engine.admit([requestOf(key.subject, NOON_MS)]);
  const { worker } = workerOf({
    ...engine,
    admit: () =>
      Promise.reject(
        new StoreUnavailable('Redis is slow', {
          decided: [undefined, verdict],
          notSent: [2],
          late: [Promise.resolve(verdict!)],
        }),
      ),
  });
  const error: unknown = await worker.admit([]).catch((reason: unknown) => reason);
  if (!(error instanceof StoreUnavailable)) throw new Error('expected StoreUnavailable');
  t.match(error, { message: 'Redis is slow', decided: [undefined, verdict], notSent: [2] });
  t.match(await error.late[0], verdict);
});
