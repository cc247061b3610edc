import t from 'tap';
import type { EmbeddedEngine } from '../../../../src/gateway/store/embedded/engine.js';
import type { Plans } from '../../../../src/gateway/admission/plan.js';
import { operationTerms } from '../../../../src/gateway/admission/windows.js';
import { NO_BAN } from '../../admission/ban.js';
import {
  copyOf,
  DAY_MS,
  engineOn,
  ENTRY,
  ledgerOf,
  NOON_MS,
  partsOn,
  PLANS,
  recordOf,
  requestOf,
  tempFolder,
} from './fixture.js';
import { othersOf } from '../../admission/verdict.js';

const plans: Plans = new Map([
  ...PLANS,
  [
    'monthly',
    {
      name: 'monthly',
      limits: { minute: 100, day: 100, month: 50 },
      refill: 'interval',
      ban: NO_BAN,
      operations: operationTerms({ createPet: { cost: 5, day: 20 } }),
    },
  ],
]);

async function leftOf(engine: EmbeddedEngine, nowMs: number): Promise<readonly (readonly [string, number])[]> {
  const [verdict] = await engine.admit([requestOf('k', { operation: 'createPet', cost: 0, nowMs })]);
  if (verdict === undefined || verdict.outcome === 'unknown_key') throw new Error('the key is not valid');
  return othersOf(verdict).map(({ name, remaining }) => [name, remaining]);
}

t.test('windows and units stand in memory, in the journal and in the file', async (t) => {
  const folder = tempFolder(t);
  const engine = engineOn(t, folder, { plans });
  await engine.keys.write(recordOf('k', { plan: 'monthly' }), ENTRY);
  await engine.admit([
    requestOf('k', { operation: 'createPet', nowMs: NOON_MS }),
    requestOf('k', { operation: 'createPet', nowMs: NOON_MS }),
    requestOf('k', { nowMs: NOON_MS }),
  ]);
  const wanted = [
    ['month', 39],
    ['createPet-day', 10],
  ] as const;
  const units = async (of: EmbeddedEngine): Promise<unknown> =>
    (await ledgerOf(of, 'k')).map((row) => [row.operation, row.requests, row.units]);
  const counted = [
    ['createPet', 2, 10],
    ['listPets', 1, 1],
  ];
  t.same(await leftOf(engine, NOON_MS), wanted);
  t.same(await units(engine), counted);
  const killed = engineOn(t, copyOf(t, folder), { plans });
  t.same(await leftOf(killed, NOON_MS), wanted, 'after a kill they are read in the journal');
  t.same(await units(killed), counted);
  await engine.close();
  const again = engineOn(t, folder, { plans });
  t.same(await leftOf(again, NOON_MS), wanted, 'and after an orderly end in the file');
  t.same(await units(again), counted);
  await again.admit([requestOf('k', { operation: 'createPet', nowMs: NOON_MS })]);
  t.same(await units(again), [['createPet', 3, 15], counted[1]], 'and counts on');
});

t.test('a key that is silent for weeks keeps its month, and is forgotten after it', async (t) => {
  const { engine, stores, sweep } = partsOn(t, tempFolder(t), plans, 400);
  const firstMs = Date.UTC(2026, 9, 1);
  await engine.keys.write(recordOf('k', { plan: 'monthly' }), ENTRY);
  await engine.admit([requestOf('k', { nowMs: firstMs })]);
  const states = async (nowMs: number): Promise<number> => {
    await stores.fold.run();
    await sweep(nowMs);
    return [...stores.durable.getKeys({ start: 's', end: 't' })].length;
  };
  t.equal(await states(firstMs + 30 * DAY_MS), 1);
  t.equal(await states(firstMs + 31 * DAY_MS), 1, 'a clock may step back');
  t.equal(await states(firstMs + 33 * DAY_MS), 0);
});
