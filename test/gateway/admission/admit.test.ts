import t from 'tap';
import { createAdmit } from '../../../src/gateway/admission/admit.js';
import { batchAdmission } from '../../../src/gateway/admission/batch.js';
import { StoreUnavailable, type Subject } from '../../../src/gateway/admission/port.js';
import type { AdmissionEngine } from '../../../src/gateway/store/port.js';
import { toIdentified, toRouted, toStripped } from '../../../src/gateway/exchange.js';
import type { Credential, RouteRequirements, Exchange, Slot } from '../../../src/gateway/exchange.js';
import type { CredentialLocations } from '../../../src/gateway/refusals/credential-location.js';
import { isRefusal, REFUSALS, type Refusal } from '../../../src/gateway/refusal.js';
import { makeExchange } from '../exchange.js';
import { makeOperation } from '../operation.js';
import { newKey, openScratchEngine } from './scratch.js';
import { windowOf } from './verdict.js';

const OPERATION = makeOperation({ scope: 'pets:read' });
const REQUIREMENTS: RouteRequirements = {
  operation: 'listPets',
  reportsAs: 'listPets',
  scope: 'pets:read',
  cost: 1,
  metered: null,
  secured: true,
  match: { kind: 'operation', operation: OPERATION },
  refusal: null,
};
const OPEN: RouteRequirements = {
  operation: 'options',
  reportsAs: 'options',
  scope: null,
  cost: 0,
  metered: null,
  secured: false,
  match: { kind: 'options', allow: 'GET' },
  refusal: null,
};
const ADDRESS: Subject = { kind: 'address', address: '192.0.2.1' };

/** The code of the refusal, or `admitted <operation>`. */
async function judge(
  engine: AdmissionEngine,
  requirements: RouteRequirements,
  subject: Subject,
  credential: Credential,
  credentials: CredentialLocations = ['bearer'],
  slot: Slot | null = null,
): Promise<{ end: string; refusal: Refusal | null; exchange: Exchange; told: readonly string[] }> {
  const { exchange } = makeExchange();
  const told: string[] = [];
  const admit = createAdmit(
    batchAdmission(engine, () => undefined),
    { realm: 'pets', credentials },
    (verdict, operation) => told.push(`${verdict.outcome} ${operation}`),
    () => slot,
  );
  const result = await admit(toIdentified(toRouted(toStripped(exchange, []), requirements), subject, credential));
  return isRefusal(result)
    ? { end: result.code, refusal: result, exchange, told }
    : { end: `admitted ${result.operation.id}`, refusal: null, exchange, told };
}

t.test('a valid key is let in and counted, until its bucket is empty', async (t) => {
  const engine = openScratchEngine(t);
  const key = await newKey(engine, 'tiny');
  const first = await judge(engine, REQUIREMENTS, key, 'key');
  t.equal(first.end, 'admitted listPets');
  t.ok(first.exchange.logEntry.counted);
  t.same(first.told, ['admitted listPets']);
  const second = await judge(engine, REQUIREMENTS, key, 'key');
  t.equal(second.end, 'rate_limited');
  t.notOk(second.exchange.logEntry.counted);
  t.equal(second.exchange.logEntry.verdict?.plan, 'tiny', 'the answer shows its figures');
  t.equal((await judge(engine, OPEN, key, 'key')).end, 'admitted options', 'what is free passes all the same');
  t.same((await judge(engine, OPEN, key, 'key')).told, [], 'and is counted nowhere');
});

t.test('what is wrong with the request is told to those only who were let in', async (t) => {
  const engine = openScratchEngine(t);
  const key = await newKey(engine);
  const nowhere: RouteRequirements = {
    ...REQUIREMENTS,
    operation: 'unmatched',
    scope: null,
    match: { kind: 'not_found' },
    refusal: REFUSALS.not_found,
  };
  t.equal((await judge(engine, nowhere, key, 'key')).end, 'not_found');
  t.equal((await judge(engine, nowhere, ADDRESS, 'missing')).end, 'missing_api_key');
  const tiny = await newKey(engine, 'tiny');
  await judge(engine, nowhere, tiny, 'key');
  t.equal((await judge(engine, nowhere, tiny, 'key')).end, 'rate_limited', 'a missing path costs like any other');
  const reader = await newKey(engine, 'free', ['pets:write']);
  t.equal((await judge(engine, REQUIREMENTS, reader, 'key')).end, 'insufficient_scope');
});

t.test('without a valid key the address pays, and 401 says why', async (t) => {
  const engine = openScratchEngine(t);
  const missing = await judge(engine, REQUIREMENTS, ADDRESS, 'missing');
  t.equal(missing.end, 'missing_api_key');
  t.same(missing.refusal?.headers, ['WWW-Authenticate', 'Bearer realm="pets"']);
  const invalid = await judge(engine, REQUIREMENTS, ADDRESS, 'malformed');
  t.equal(invalid.end, 'invalid_api_key');
  t.same(invalid.refusal?.headers, ['WWW-Authenticate', 'Bearer realm="pets", error="invalid_token"']);
  const key = await newKey(engine);
  const wrong = await judge(engine, REQUIREMENTS, { kind: 'key', id: key.id, secretHash: 'wrong' }, 'key');
  t.equal(wrong.end, 'invalid_api_key');
  t.equal(wrong.exchange.logEntry.credential, 'unknown', 'why, only the log says');
  t.equal(wrong.exchange.logEntry.verdict?.keyId, null, "the figures are the address's");
  t.equal(windowOf(wrong.exchange.logEntry.verdict!, 'minute').remaining, 997, 'which paid for all three');
  t.notOk(wrong.exchange.logEntry.counted, 'and the ledger knows of keys only');
  t.equal((await judge(engine, REQUIREMENTS, key, 'key')).end, 'admitted listPets', 'the key itself is not affected');
});

t.test('a public operation costs the address what it says, or the key that is sent', async (t) => {
  const engine = openScratchEngine(t);
  const login: RouteRequirements = {
    ...REQUIREMENTS,
    operation: 'login',
    scope: null,
    cost: 5,
    metered: null,
    secured: false,
  };
  const anonymous = await judge(engine, login, ADDRESS, 'missing');
  t.equal(anonymous.end, 'admitted listPets');
  t.equal(windowOf(anonymous.exchange.logEntry.verdict!, 'minute').remaining, 995);
  t.notOk(anonymous.exchange.logEntry.counted, 'the ledger knows of keys only');
  const wrong = await judge(engine, login, { kind: 'key', id: 'AbCdEf123456', secretHash: 'wrong' }, 'key');
  t.equal(windowOf(wrong.exchange.logEntry.verdict!, 'minute').remaining, 990, 'an invalid key pays for nothing');
  const key = await newKey(engine, 'free');
  const paid = await judge(engine, login, key, 'key');
  t.equal(windowOf(paid.exchange.logEntry.verdict!, 'minute').remaining, 55);
  t.ok(paid.exchange.logEntry.counted);
  for (let n = 0; n < 198; n += 1) await judge(engine, login, ADDRESS, 'missing');
  t.equal((await judge(engine, login, ADDRESS, 'missing')).end, 'rate_limited');
});

t.test('a key that was given up: whatever the store says later is written down, or that it is unknown', async (t) => {
  const engine = openScratchEngine(t);
  const key = await newKey(engine);
  const request = { subject: key, operation: 'listPets', scope: null, cost: 1 };
  const verdict = (await engine.admit([request]))[0]!;
  const expiries = [
    [verdict, true],
    ['undone', false],
    ['unknown', null],
  ] as const;
  for (const [end, counted] of expiries) {
    const error = new StoreUnavailable('late', { late: [Promise.resolve(end)] });
    const slow = { admit: () => Promise.reject(error) } as unknown as AdmissionEngine;
    const given = await judge(slow, REQUIREMENTS, key, 'key');
    t.equal(given.end, 'store_unavailable');
    await given.exchange.logEntry.late;
    t.match(given.exchange.logEntry, { counted, keyId: key.id, verdict: counted === true ? verdict : null });
    t.same(given.told, counted === true ? ['admitted listPets'] : [], 'and counted');
    t.equal((await judge(slow, REQUIREMENTS, ADDRESS, 'missing')).exchange.logEntry.late, null, 'no address is');
  }
});

t.test('without a store it is 503, but what was wrong from the start stays so; a bug stays a bug', async (t) => {
  const failing = (error: Error): AdmissionEngine =>
    ({ admit: () => Promise.reject(error) }) as unknown as AdmissionEngine;
  const away = failing(new StoreUnavailable('away'));
  const refused = await judge(away, REQUIREMENTS, ADDRESS, 'missing');
  t.equal(refused.end, 'store_unavailable');
  t.equal(refused.exchange.logEntry.verdict, null, 'nobody knows the figures');
  t.ok(refused.exchange.logEntry.admissionMs > 0);
  t.equal(
    (await judge(away, { ...OPEN, refusal: REFUSALS.malformed_request }, ADDRESS, 'missing')).end,
    'malformed_request',
  );
  await t.rejects(judge(failing(new TypeError('bug')), REQUIREMENTS, ADDRESS, 'missing'), { message: 'bug' });
});

t.test('where clients log in, a request without a key costs its address nothing; a wrong key does', async (t) => {
  const engine = openScratchEngine(t);
  const basic: CredentialLocations = [{ basic: 'password' }, 'bearer'];
  for (const [credential, end, remaining] of [
    ['missing', 'missing_api_key', 1_000],
    ['malformed', 'invalid_api_key', 999],
    ['missing', 'missing_api_key', 999],
  ] as const) {
    const judged = await judge(engine, REQUIREMENTS, ADDRESS, credential, basic);
    t.equal(judged.end, end);
    t.equal(windowOf(judged.exchange.logEntry.verdict!, 'minute').remaining, remaining);
    t.equal(judged.exchange.logEntry.credential, credential);
  }
  const failing = (error: Error) => ({ admit: () => Promise.reject(error) }) as unknown as AdmissionEngine;
  const away = failing(new StoreUnavailable('away'));
  t.equal((await judge(away, REQUIREMENTS, ADDRESS, 'missing', basic)).end, 'missing_api_key', 'without a store too');
  await t.rejects(judge(failing(new TypeError('bug')), REQUIREMENTS, ADDRESS, 'missing', basic), { message: 'bug' });
});

t.test('a slot at the upstream is freed unless the request is admitted', async (t) => {
  const engine = openScratchEngine(t);
  const key = await newKey(engine, 'tiny');
  let freed = 0;
  const slot = { free: () => (freed += 1) } as unknown as Slot;
  const ends = async (store: AdmissionEngine, ended: string): Promise<void> => {
    t.equal((await judge(store, REQUIREMENTS, key, 'key', ['bearer'], slot)).end, ended);
  };
  await ends(engine, 'admitted listPets');
  t.equal(freed, 0);
  await ends(engine, 'rate_limited');
  t.equal(freed, 1);
  const failing = (error: Error) => ({ admit: () => Promise.reject(error) }) as unknown as AdmissionEngine;
  await ends(failing(new StoreUnavailable('away')), 'store_unavailable');
  t.equal(freed, 2);
  await t.rejects(judge(failing(new TypeError('bug')), REQUIREMENTS, key, 'key', ['bearer'], slot));
  t.equal(freed, 3, 'also by a bug');
});

t.test('a preflight shows no credential, and its address pays whatever key it has', async (t) => {
  const engine = openScratchEngine(t);
  const key = await newKey(engine, 'tiny');
  const preflight = await judge(engine, { ...OPEN, isPreflight: true }, key, 'key');
  t.equal(preflight.end, 'admitted options');
  t.equal(preflight.exchange.logEntry.credential, null);
  t.equal(preflight.exchange.logEntry.verdict?.keyId, null);
  t.equal((await judge(engine, OPEN, ADDRESS, 'malformed')).exchange.logEntry.credential, 'malformed');
});

t.test('a ban refuses what is free only where an upstream would answer, and it is reported', async (t) => {
  const engine = openScratchEngine(t);
  const key = await newKey(engine);
  const [verdict] = await engine.admit([{ subject: key, operation: 'listPets', scope: null, cost: 0 }]);
  const banned = { ...verdict, outcome: 'banned', level: 1, bannedUntilMs: 5_000, retryAtMs: 9_000 };
  const banning = { admit: () => Promise.resolve([banned]) } as unknown as AdmissionEngine;
  const free = await judge(banning, { ...REQUIREMENTS, cost: 0 }, key, 'key');
  t.same([free.end, free.told], ['key_banned', ['banned listPets']]);
  t.match(free.exchange.logEntry.verdict, { retryAtMs: 5_000 }, 'until the end of the ban');
  const own = await judge(banning, OPEN, key, 'key');
  t.same([own.end, own.told], ['admitted options', []]);
});

t.test('beyond those that may wait for their challenge, a connection is closed', async (t) => {
  const admit = createAdmit(
    batchAdmission(openScratchEngine(t), () => undefined),
    { realm: 'pets', credentials: [{ basic: 'password' }] },
    () => undefined,
    () => null,
  );
  const ask = (): ReturnType<typeof admit> =>
    admit(toIdentified(toRouted(toStripped(makeExchange().exchange, []), REQUIREMENTS), ADDRESS, 'missing'));
  const ends = await Promise.all(Array.from({ length: 1_101 }, ask));
  t.equal(ends.filter((end) => isRefusal(end) && end.closes).length, 1, '1,000 free, 100 waiting, and one');
});
