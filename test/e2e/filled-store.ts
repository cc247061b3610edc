import { DAY_MS, dayOf } from '../../src/shared/utc-day.js';
import { openEmbeddedEngine } from '../../src/gateway/store/embedded/engine.js';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import { AdminTokens } from '../../src/gateway/actions/access/tokens.js';
import { eraseCustomer, eraseKey } from '../../src/gateway/accounts/keys/erase.js';
import { KeyRegistry } from '../../src/gateway/accounts/keys/registry.js';
import { parseToken } from '../../src/gateway/accounts/token.js';
import type { Plan, Plans } from '../../src/gateway/admission/plan.js';
import { BAN } from '../gateway/admission/ban.js';
import { startBan } from '../conformance/cast.js';

const LEDGER_DAYS = 40;
const plan = (name: string, limits: Plan['limits']): [string, Plan] => [
  name,
  { name, limits, refill: 'interval', ban: BAN },
];
/** Of config/plans.yaml. */
export const PLANS: Plans = new Map([
  plan('free', { minute: 60, day: 1_000 }),
  plan('pro', { minute: 300, day: 10_000 }),
  plan('business', { minute: 1_000, day: 100_000 }),
  plan('enterprise', 'custom'),
  plan('anonymous', { minute: 300, day: 10_000 }),
]);

export interface Filled {
  /** Of keys: good, limited, banned, of a customer. */
  readonly tokens: readonly string[];
  readonly ids: readonly string[];
  /** An admin token of role billing. */
  readonly adminToken: string;
}

/** An embedded store with some of everything that a store keeps, and forty days of ledger. */
export async function filledStore(folder: string): Promise<Filled> {
  const engine = openEmbeddedEngine({ folder, plans: PLANS, usageDays: 400, mapBytes: 64 * 2 ** 20, events: true });
  try {
    return await fill(engine);
  } finally {
    await engine.close();
  }
}

/** Some of everything that a store keeps. */
export async function fill(engine: AdmissionEngine): Promise<Filled> {
  const registry = new KeyRegistry({
    ...{ engine, plans: () => PLANS, scopes: ['pets:read'], costs: new Map(), environment: 'development' },
    ...{ acceptImported: true, emitsEvents: true },
  });
  const customers = [];
  for (const name of ['Ann', 'Bob', 'Cid'])
    customers.push(
      (await registry.customers.create({ name, plan: 'pro', reference: `R-${name}`, note: 'n' }, 'ops')).id,
    );
  const [ann = '', bob = '', cid = ''] = customers;
  await registry.customers.grant(
    bob,
    { window: 'day', units: 7, until: dayOf(Date.now() + 3 * DAY_MS), note: 'x' },
    'ops',
  );
  const made = [];
  for (const body of [
    { plan: 'free', name: 'good', note: 'a note' },
    { plan: 'enterprise', name: 'limited', limits: { minute: 'unlimited', day: 3 } },
    { plan: 'free', name: 'banned' },
    { customer: ann, name: "Ann's" },
    { customer: bob, name: "Bob's" },
    { plan: 'free', name: 'erased' },
    { customer: cid, name: 'of one who is gone' },
    { plan: 'free', name: 'ends', expires: '2035-01-01', scopes: ['pets:read'] },
    { plan: 'enterprise', name: 'hasty', limits: { minute: 'unlimited', day: 3 } },
    ...Array.from({ length: 60 }, (_, n) => ({ plan: 'business', name: `many ${n}` })),
  ])
    made.push(await registry.create(body, 'ops'));
  const ids = made.map(({ record }) => record.id);
  const [, , banned = '', , , erased = ''] = ids;
  await registry.rotate(ids[0]!, 3_600_000, 'ops');
  for (const { token } of made.slice(0, 5)) await spend(engine, token);
  for (let asked = 0; asked < 10; asked += 1) await spend(engine, made[8]!.token);
  const mistake = { day: dayOf(Date.now()), units: -2, reason: 'counted twice', id: 'M-1' };
  await registry.correct(ids[0]!, mistake, 'ops');
  await registry.customers.correct(ann, mistake, 'ops');
  await startBan(engine, banned, Date.now() + DAY_MS, { reason: 'too much', actor: 'ops' });
  await registry.revoke(erased, 'ops');
  await eraseKey({ registry, engine }, erased, 'ops');
  await registry.customers.close(cid, 'ops');
  await eraseCustomer({ registry, engine }, cid, 'ops');
  const tokens = new AdminTokens(engine.tokens, () => registry.nowMs());
  await tokens.create({ name: 'reader', role: 'read', expires: '2035-01-01' }, 'ops');
  const { token: adminToken } = await tokens.create({ name: 'billing', role: 'billing' }, 'ops');
  await putLedger(engine, ids);
  return { tokens: made.slice(0, 5).map(({ token }) => token), ids, adminToken };
}

async function spend(engine: AdmissionEngine, token: string): Promise<void> {
  const { id, secretHash } = parseToken(token, 'development', false)!;
  for (const operation of ['listPets', 'createPet', 'listPets', 'getPet'])
    await engine.admit([{ subject: { kind: 'key', id, secretHash }, operation, scope: null, cost: 1 }]);
}

async function putLedger(engine: AdmissionEngine, ids: readonly string[]): Promise<void> {
  for (let ago = 1; ago <= LEDGER_DAYS; ago += 1) {
    const day = dayOf(Date.now() - ago * DAY_MS);
    await engine.transfer.raise(
      ids.flatMap((key, n) => [
        {
          key,
          plan: 'free',
          operation: 'listPets',
          day,
          requests: n + ago,
          units: n + ago,
          returned: 0,
          limited: n,
          banned: 0,
          failed: 1,
        },
        {
          key,
          plan: 'pro',
          operation: 'createPet',
          day,
          requests: ago,
          units: 3 * ago,
          returned: 0,
          limited: 0,
          banned: n,
          failed: 0,
        },
      ]),
    );
  }
}
