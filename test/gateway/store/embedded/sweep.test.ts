import t from 'tap';
import { storedKeyVerifier } from '../../../../src/gateway/store/embedded/records/verifier.js';
import type { Plans } from '../../../../src/gateway/admission/plan.js';
import type { Store } from '../../../../src/gateway/store/embedded/files/database.js';
import { sweepOf } from '../../../../src/gateway/store/embedded/sweep.js';
import { NO_BAN } from '../../admission/ban.js';
import { startBan } from '../../../conformance/cast.js';
import {
  addressRequest,
  DAY_MS,
  ENTRY,
  ledgerOf,
  NOON_MS,
  partsOn,
  PLANS,
  recordOf,
  requestOf,
  tempFolder,
} from './fixture.js';

function namesIn(store: Store, kind: string): readonly string[] {
  store.resetReadTxn();
  return [...store.getKeys({ start: kind, end: `${kind}\uffff` })].map((name) => name.replaceAll('\u001f', ' '));
}

t.test('what nobody needs any more goes, and nothing else', async (t) => {
  const folder = tempFolder(t);
  const { engine, stores, sweep } = partsOn(t, folder, PLANS, 30);
  for (const id of ['busy', 'idle', 'banned']) await engine.keys.write(recordOf(id, { plan: 'strict' }), ENTRY);
  const earlierMs = NOON_MS - 3 * DAY_MS;
  await engine.admit([
    requestOf('idle', { nowMs: earlierMs }),
    requestOf('busy', { nowMs: earlierMs }),
    addressRequest('192.0.2.1', { nowMs: earlierMs }),
    addressRequest('192.0.2.2', { nowMs: NOON_MS }),
  ]);
  await startBan(engine, 'banned', NOON_MS + 1);
  await stores.fold.run();
  await engine.admit([requestOf('busy', { nowMs: NOON_MS })]);

  await sweep(NOON_MS);
  t.strictSame(namesIn(stores.durable, 'a'), ['a192.0.2.2']);
  await stores.fold.run();
  await sweep(NOON_MS);
  t.strictSame(namesIn(stores.durable, 's'), ['sbanned', 'sbusy', 'sidle'], 'a month is remembered until it is over');
  t.strictSame(namesIn(stores.durable, 'u'), [
    'u2026-11-18 busy strict listPets',
    'u2026-11-18 idle strict listPets',
    'u2026-11-21 busy strict listPets',
  ]);

  const verdicts = await engine.admit([
    requestOf('busy', { nowMs: NOON_MS }),
    requestOf('banned', { nowMs: NOON_MS }),
    requestOf('idle', { nowMs: NOON_MS }),
  ]);
  t.strictSame(
    verdicts.map(({ outcome }) => outcome),
    ['limited', 'banned', 'admitted'],
    'no decision changed by it',
  );
  t.match((await ledgerOf(engine, 'busy')).at(-1), { requests: 1, limited: 1 }, 'and the ledger counts on');
});

t.test('a greedy bucket that owes is not forgotten before it is whole, of a key as of an address', async (t) => {
  const folder = tempFolder(t);
  const plans: Plans = new Map([
    ['own', { name: 'own', limits: 'custom', refill: 'greedy', ban: NO_BAN }],
    ['anonymous', { name: 'anonymous', limits: { minute: 'unlimited', day: 5 }, refill: 'greedy', ban: NO_BAN }],
  ]);
  const fewer: Plans = new Map([
    ...plans,
    ['anonymous', { ...plans.get('anonymous')!, limits: { minute: 'unlimited', day: 1 } }],
  ]);
  const { engine, stores } = partsOn(t, folder, plans, 30);
  const sweep = sweepOf(stores, 30, storedKeyVerifier(stores, fewer));
  const record = recordOf('debtor', { plan: 'own', limits: { minute: 'unlimited', day: 8 } });
  await engine.keys.write(record, ENTRY);
  for (let n = 0; n < 5; n += 1)
    await engine.admit([requestOf('debtor', { nowMs: NOON_MS }), addressRequest('192.0.2.9', { nowMs: NOON_MS })]);
  await engine.keys.write({ ...record, limits: { minute: 'unlimited', day: 1 }, version: 2 }, ENTRY);
  engine.setPlans(fewer);
  const sweepAt = async (nowMs: number): Promise<readonly string[]> => {
    await stores.fold.run();
    await sweep(nowMs);
    return [...namesIn(stores.durable, 's'), ...namesIn(stores.durable, 'a')];
  };
  const laterMs = NOON_MS + 3 * DAY_MS;
  t.strictSame(await sweepAt(laterMs), ['sdebtor', 'a192.0.2.9']);
  const verdicts = await engine.admit([
    requestOf('debtor', { nowMs: laterMs }),
    addressRequest('192.0.2.9', { nowMs: laterMs }),
  ]);
  t.match(verdicts, [
    { outcome: 'limited', retryAtMs: NOON_MS + 5 * DAY_MS },
    { outcome: 'limited', retryAtMs: NOON_MS + 5 * DAY_MS },
  ]);
  t.strictSame(await sweepAt(NOON_MS + 6 * DAY_MS + 1), ['sdebtor'], 'whole for a day, but its month is not over');
  t.strictSame(await sweepAt(NOON_MS + 40 * DAY_MS), []);
});

t.test('nor is a key forgotten that would still owe if its limits were lowered', async (t) => {
  const folder = tempFolder(t);
  const plans: Plans = new Map([['own', { name: 'own', limits: 'custom', refill: 'greedy', ban: NO_BAN }]]);
  const { engine, stores } = partsOn(t, folder, plans, 30);
  const record = recordOf('lowered', { plan: 'own', limits: { minute: 6, day: 6 } });
  await engine.keys.write(record, ENTRY);
  for (let n = 0; n < 3; n += 1) await engine.admit([requestOf('lowered', { nowMs: NOON_MS })]);
  await stores.fold.run();
  const laterMs = NOON_MS + 2 * DAY_MS + 1;
  await sweepOf(stores, 30, storedKeyVerifier(stores, plans))(laterMs);
  await engine.keys.write({ ...record, limits: { minute: 1, day: 1 }, version: 2 }, ENTRY);
  t.match(await engine.admit([requestOf('lowered', { nowMs: laterMs })]), [{ outcome: 'limited', violated: 'day' }]);
});

t.test('a clock that is ahead takes no day of the ledger: seven days that were counted on do', async (t) => {
  const folder = tempFolder(t);
  const { engine, stores, sweep } = partsOn(t, folder, PLANS, 400);
  await engine.keys.write(recordOf('busy', { plan: 'open' }), ENTRY);
  const countOn = async (days: readonly number[]): Promise<void> => {
    for (const day of days) await engine.admit([requestOf('busy', { nowMs: NOON_MS + day * DAY_MS })]);
    await stores.fold.run();
    await sweep(NOON_MS + days.at(-1)! * DAY_MS);
  };
  const daysKept = (): number => namesIn(stores.durable, 'u').length;
  await countOn(Array.from({ length: 10 }, (_, n) => n - 9));
  await countOn([402]);
  t.equal(daysKept(), 11, 'one request 402 days ahead');
  await countOn([1_000, 1_001, 1_002, 1_003, 1_004]);
  t.equal(daysKept(), 16, 'nor do six days of them');
  await countOn([1_005]);
  t.equal(daysKept(), 7, 'seven are believed');
  t.match(namesIn(stores.durable, 'u')[0], /^u2027-12-28/, 'whose first is 400 days after none but these');
});
