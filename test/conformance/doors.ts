import type { Test } from 'tap';
import { createAdmit } from '../../src/gateway/admission/admit.js';
import { batchAdmission } from '../../src/gateway/admission/batch.js';
import type { Subject } from '../../src/gateway/admission/port.js';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import { toIdentified, toRouted, toStripped } from '../../src/gateway/exchange.js';
import { isRefusal } from '../../src/gateway/refusal.js';
import { makeExchange } from '../gateway/exchange.js';
import { makeOperation } from '../gateway/operation.js';
import { askMany, freshId, newKey, startBan, type Actor } from './cast.js';
import { CREATE, LIST, READ } from './names.js';

const DAY_LIMIT = 20;
const SCOPES = { all: null, right: ['pets:write'], wrong: ['pets:read'] } as const;
const OUTCOMES = ['fresh', 'spent', 'banned'] as const;
const COST_OF_403 = 2;

type Outcome = (typeof OUTCOMES)[number];
type Scopes = keyof typeof SCOPES;

/** Keys of the plan `doors` in each state that a key can be in, and a banned address. */
interface DoorActors {
  readonly keys: readonly { readonly actor: Actor; readonly outcome: Outcome; readonly scopes: Scopes }[];
  readonly address: Subject;
}

/**
 * What is asked for: by its id, what the contract says it costs, and who answers it. The plan has prices of its own.
 */
const OPERATIONS = [
  { id: CREATE, cost: 1, isFree: false, upstream: 'pets' },
  { id: LIST, cost: 1, isFree: false, upstream: 'pets' },
  { id: READ, cost: 1, isFree: true, upstream: 'pets' },
  { id: 'countPets', cost: 0, isFree: true, upstream: 'pets' },
  { id: 'ownFigures', cost: 0, isFree: true, upstream: 'gateway' },
] as const;
type Asked = (typeof OPERATIONS)[number];

export async function doorActors(engine: AdmissionEngine): Promise<DoorActors> {
  const keys = await Promise.all(
    OUTCOMES.flatMap((outcome) =>
      (['all', 'right', 'wrong'] as const).map(async (scopes) => {
        const actor = await newKey(engine, 'doors', { scopes: SCOPES[scopes] });
        if (outcome === 'spent') await askMany(engine, actor, DAY_LIMIT + 1, Date.now());
        if (outcome === 'banned') await startBan(engine, actor, Date.now() + 600_000);
        await askMany(engine, actor, 1, Date.now(), { cost: 0 });
        return { actor, outcome, scopes };
      }),
    ),
  );
  const group = (): string => freshId().slice(0, 4);
  const address = { kind: 'address', address: `2001:db8:${group()}:${group()}` } as const;
  await askMany(engine, address, 16, Date.now());
  return { keys, address };
}

function expected({ isFree, upstream }: Asked, outcome: Outcome, scopes: Scopes): string {
  if (outcome === 'banned' && upstream !== 'gateway') return 'key_banned';
  if (outcome === 'spent' && !isFree) return 'rate_limited';
  return scopes === 'wrong' ? 'insufficient_scope' : 'admitted';
}

/** What the door says: the code of its refusal, or that it lets in. */
async function judge(engine: AdmissionEngine, subject: Subject, asked: Asked, secured = true): Promise<string> {
  const admit = createAdmit(
    batchAdmission(engine, () => undefined),
    { realm: 'pets', credentials: ['bearer'] },
    () => undefined,
    () => null,
  );
  const { id, cost, upstream } = asked;
  const operation = makeOperation({ id, cost, upstream, secured, scope: 'pets:write', method: 'POST' });
  const requirements = {
    ...{ operation: id, reportsAs: id, scope: operation.scope, cost, metered: null, secured, refusal: null },
    match: { kind: 'operation', operation } as const,
  };
  const { exchange } = makeExchange(subject.kind === 'address' ? { addressBucket: subject.address } : {});
  const routed = toRouted(toStripped(exchange, []), requirements);
  const result = await admit(toIdentified(routed, subject, subject.kind === 'key' ? 'key' : 'missing'));
  return isRefusal(result) ? result.code : 'admitted';
}

/** Every operation, asked by every key. */
export async function checkDoors(t: Test, engine: AdmissionEngine, { keys, address }: DoorActors): Promise<void> {
  for (const asked of OPERATIONS) {
    for (const { actor, outcome, scopes } of keys) {
      const wanted = expected(asked, outcome, scopes);
      const said = await judge(engine, actor.subject, asked);
      t.equal(said, wanted, `${asked.id} of ${asked.upstream} by a key that is ${outcome}, scopes: ${scopes}`);
    }
    const isOwn = asked.upstream === 'gateway';
    t.equal(
      await judge(engine, address, asked, false),
      isOwn ? 'admitted' : 'address_banned',
      `${asked.id} by address`,
    );
  }
}

/** The order at the door: ban, limit, scope; whatever an operation costs. */
export function doors(t: Test, engine: AdmissionEngine): void {
  t.test('a ban closes what has an upstream, and scopes hold for every outcome and price', async (t) => {
    await checkDoors(t, engine, await doorActors(engine));
  });

  t.test('a scope that is missing costs what the operation costs, and says so of every verdict', async (t) => {
    const key = await newKey(engine, 'doors', { scopes: SCOPES.wrong });
    const how = { operation: CREATE, scope: 'pets:write' };
    const verdicts = await askMany(engine, key, DAY_LIMIT / COST_OF_403 + 1, Date.now(), how);
    t.same(
      verdicts.map((verdict) => [verdict.outcome, 'inScope' in verdict && verdict.inScope]),
      [...Array.from({ length: DAY_LIMIT / COST_OF_403 }, () => ['admitted', false]), ['limited', false]],
    );
    await startBan(engine, key, Date.now() + 600_000);
    for (const cost of [0, 1])
      t.match(await askMany(engine, key, 1, Date.now(), { ...how, cost }), [{ outcome: 'banned', inScope: false }]);
    t.match(await askMany(engine, key, 1, Date.now()), [{ outcome: 'banned', inScope: true }]);
  });
}
