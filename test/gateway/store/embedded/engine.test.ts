import t from 'tap';
import { noCounts } from '../../../../src/gateway/store/records/counts.js';
import type { Verdict } from '../../../../src/gateway/admission/verdict.js';
import { VersionConflict } from '../../../../src/gateway/store/records/conflicts.js';
import {
  addressRequest,
  DAY_MS,
  engineOn,
  ENTRY,
  ledgerOf,
  NOON_MS,
  PLANS,
  recordOf,
  requestOf,
  tempFolder,
} from './fixture.js';
import { createReporter } from '../../../../src/gateway/store/settlements.js';
import { windowOf } from '../../admission/verdict.js';
import { liftBan, startBan } from '../../../conformance/cast.js';

const reportsOf = createReporter();

const nowMs = NOON_MS;
const outcomeOf = (verdict: Verdict | undefined): string | undefined =>
  verdict?.outcome === 'unknown_key' ? verdict.reason : verdict?.outcome;

t.test('a key is judged: missing, status, secret, end, plan, in this order', async (t) => {
  const engine = engineOn(t, tempFolder(t));
  const ended = { hash: 'hash-of-rotated', endsAtMs: nowMs };
  const records = [
    recordOf('good'),
    recordOf('disabled', { status: 'disabled', expiresAtMs: 1 }),
    recordOf('revoked', { status: 'revoked', secrets: [] }),
    recordOf('wrong', { secrets: [{ hash: 'another', endsAtMs: null }] }),
    recordOf('rotated', { secrets: [{ hash: 'newer', endsAtMs: null }, ended] }),
    recordOf('expired', { expiresAtMs: nowMs, plan: 'gone' }),
    recordOf('alive', { expiresAtMs: nowMs + 1 }),
    recordOf('planless', { plan: 'gone' }),
    recordOf('limitless', { plan: 'enterprise' }),
    recordOf('custom', { plan: 'enterprise', limits: { minute: 1, day: 'unlimited' } }),
  ];
  for (const record of records) await engine.keys.write(record, ENTRY);
  const asked = ['missing', ...records.map(({ id }) => id), 'custom'];
  const verdicts = await engine.admit(asked.map((id) => requestOf(id, { nowMs })));
  t.strictSame(verdicts.map(outcomeOf), [
    'unknown',
    'admitted',
    'disabled',
    'revoked',
    'unknown',
    'expired',
    'expired',
    'admitted',
    'no_plan',
    'no_plan',
    'admitted',
    'limited',
  ]);
});

t.test('every refusal and failure stands in the ledger, looking and addresses leave nothing', async (t) => {
  const engine = engineOn(t, tempFolder(t));
  await engine.keys.write(recordOf('k', { plan: 'strict', scopes: ['pets:read'] }), ENTRY);
  const one = (changes = {}) => requestOf('k', { nowMs, ...changes });
  const verdicts = await engine.admit([
    one({ cost: 0 }),
    one({ scope: 'pets:write' }),
    one(),
    one(),
    one(),
    one({ cost: 0 }),
    addressRequest('192.0.2.1', { nowMs, cost: 0 }),
    addressRequest('192.0.2.1', { nowMs }),
  ]);
  t.strictSame(verdicts.map(outcomeOf), [
    'admitted',
    'admitted',
    'limited',
    'banned',
    'banned',
    'banned',
    'admitted',
    'admitted',
  ]);
  t.match(verdicts[1], { inScope: false });
  await engine.settle(
    reportsOf([
      { keyId: 'k', plan: 'strict', operation: 'listPets', admittedAtMs: nowMs, isFailed: true },
      { keyId: 'k', plan: 'free', operation: 'getPet', admittedAtMs: nowMs - DAY_MS, isFailed: true },
    ]),
  );
  t.strictSame(await ledgerOf(engine), [
    { ...noCounts(), key: 'k', plan: 'free', operation: 'getPet', day: '2026-11-20', failed: 1 },
    {
      ...{ ...noCounts(), key: 'k', plan: 'strict', operation: 'listPets', day: '2026-11-21' },
      ...{ requests: 1, units: 1, limited: 1, banned: 2, failed: 1 },
    },
  ]);
  t.strictSame(await ledgerOf(engine, 'other'), []);
});

t.test('looking changes nothing, not even for the rest of its batch', async (t) => {
  const engine = engineOn(t, tempFolder(t));
  await engine.keys.write(recordOf('k'), ENTRY);
  const verdicts = await engine.admit([
    requestOf('k', { nowMs }),
    requestOf('k', { nowMs: nowMs + 61_000, cost: 0 }),
    requestOf('k', { nowMs: nowMs + 1_000 }),
    addressRequest('192.0.2.1', { nowMs }),
    addressRequest('192.0.2.1', { nowMs: nowMs + 61_000, cost: 0 }),
    addressRequest('192.0.2.1', { nowMs: nowMs + 1_000 }),
  ]);
  t.strictSame(
    verdicts.map((verdict) => (verdict.outcome === 'unknown_key' ? undefined : windowOf(verdict, 'minute').remaining)),
    [59, 60, 58, 2, 3, 1],
  );
});

t.test('a change of a key and a plan holds on the next admission, and the loser of a race is told', async (t) => {
  const engine = engineOn(t, tempFolder(t));
  await engine.keys.write(recordOf('k'), ENTRY);
  t.equal(outcomeOf((await engine.admit([requestOf('k')]))[0]), 'admitted');
  const races = await Promise.allSettled([
    engine.keys.write(recordOf('k', { status: 'disabled', version: 2 }), { ...ENTRY, action: 'changed' }),
    engine.keys.write(recordOf('k', { name: 'late', version: 2 }), { ...ENTRY, action: 'changed' }),
  ]);
  t.equal(races.filter(({ status }) => status === 'rejected').length, 1);
  await t.rejects(engine.keys.write(recordOf('k'), ENTRY), VersionConflict);
  await engine.keys.write(recordOf('k', { status: 'revoked', secrets: [], version: 3 }), {
    ...ENTRY,
    action: 'revoked',
  });
  t.equal(outcomeOf((await engine.admit([requestOf('k')]))[0]), 'revoked');
  t.strictSame(
    (await engine.keys.history('k')).map(({ action }) => action),
    ['created', 'changed', 'revoked'],
  );
  await engine.keys.write(recordOf('l'), ENTRY);
  engine.setPlans(new Map([...PLANS].filter(([name]) => name !== 'free')));
  t.equal(outcomeOf((await engine.admit([requestOf('l')]))[0]), 'no_plan');
  t.strictSame(
    (await engine.keys.page(null, 1)).map(({ id }) => id),
    ['k'],
  );
  t.strictSame(
    (await engine.keys.page('k', 9)).map(({ id }) => id),
    ['l'],
  );
  t.equal(await engine.keys.read('m'), undefined);
});

t.test('a ban set by hand holds at once and is gone when lifted', async (t) => {
  const engine = engineOn(t, tempFolder(t));
  await engine.keys.write(recordOf('k'), ENTRY);
  const untilMs = Date.now() + 60_000;
  t.equal(await engine.bans.read('k'), undefined);
  await startBan(engine, 'k', untilMs);
  t.strictSame(await engine.bans.read('k'), { keyId: 'k', untilMs, level: 1, note: null });
  t.match((await engine.admit([requestOf('k')]))[0], { outcome: 'banned', bannedUntilMs: untilMs, started: false });
  t.equal(await liftBan(engine, 'k'), true);
  t.equal(await liftBan(engine, 'k'), false);
  t.equal(outcomeOf((await engine.admit([requestOf('k')]))[0]), 'admitted');
});

t.test('the check proves that the store decides, and a closed engine says so', async (t) => {
  const engine = engineOn(t, tempFolder(t));
  await engine.check();
  await engine.close();
  await engine.close();
  await t.rejects(engine.admit([requestOf('k')]), { name: 'StoreUnavailable' });
  await t.rejects(engine.keys.read('k'), { name: 'StoreUnavailable' });
  await t.rejects(engine.keys.write(recordOf('k'), ENTRY), { name: 'StoreUnavailable' });
  await t.rejects(engine.check(), { name: 'StoreUnavailable' });
});
