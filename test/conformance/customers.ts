import type { Test } from 'tap';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import {
  ask,
  banned,
  change,
  changeCustomer,
  count,
  dayName,
  freshCustomerId,
  keyOf,
  liftBan,
  limited,
  newCustomer,
  newKey,
  NOON_MS,
  requestOf,
  rowsOf,
  standing,
  startBan,
} from './cast.js';
import { byName, othersOf, windowOf } from '../gateway/admission/verdict.js';
import { CREATE } from './names.js';

const SECOND_MS = 1_000;

/** Customers: records with versions and a history, and keys that share their plan and its buckets. */
export function customers(t: Test, engine: AdmissionEngine): void {
  t.test('a customer reads back as it was written, also in pages, with its history', async (t) => {
    const limits = { minute: 5, day: 'unlimited', month: 9 } as const;
    const made = await newCustomer(engine, 'enterprise', { name: 'Größe', reference: 'C-1, "x"', limits, note: 'n' });
    t.same(await engine.customers.read(made.id), made);
    const next = await changeCustomer(engine, made, { plan: 'pro', limits: null, status: 'closed' });
    t.same(await engine.customers.read(made.id), next);
    t.same(
      (await engine.customers.history(made.id)).map(({ action }) => action),
      ['created', 'changed'],
    );
    await engine.customers.confirm(made.id);
    t.equal(await engine.customers.read(freshCustomerId()), undefined);
    t.same(await engine.customers.history(freshCustomerId()), []);
  });

  t.test('a change loses when another came first, and nothing of it stays', async (t) => {
    const made = await newCustomer(engine, 'free');
    await changeCustomer(engine, made, { name: 'first' });
    await t.rejects(changeCustomer(engine, made, { name: 'second' }), { name: 'VersionConflict' });
    await t.rejects(newCustomer(engine, 'free', { id: made.id }), { name: 'VersionConflict' });
    t.equal((await engine.customers.read(made.id))?.name, 'first');
    t.equal((await engine.customers.history(made.id)).length, 2);
  });

  t.test('pages go by id, and keys are counted', async (t) => {
    const made = await Promise.all(Array.from({ length: 7 }, () => newCustomer(engine, 'free')));
    const seen: string[] = [];
    for (let after: string | null = null; ;) {
      const page = await engine.customers.page(after, 3);
      seen.push(...page.map(({ id }) => id));
      if (page.length < 3) break;
      after = page.at(-1)!.id;
    }
    t.same(seen, [...new Set(seen)].sort());
    for (const { id } of made) t.ok(seen.includes(id));
    const { id } = made[0]!;
    t.equal(await engine.customers.keyCount(id), 0);
    for (let n = 0; n < 3; n += 1) await keyOf(engine, id);
    t.equal(await engine.customers.keyCount(id), 3);
    const keys = await engine.keys.page(id, 3);
    t.ok(
      keys.every((key) => key.id.startsWith(id)),
      'they are a range of all keys',
    );
  });

  t.test('its keys spend from one bucket, in whatever order they ask', async (t) => {
    const { id } = await newCustomer(engine, 'free');
    const [first, second] = [await keyOf(engine, id), await keyOf(engine, id)];
    const batch = Array.from({ length: 50 }, (_, n) => requestOf((n % 2 === 0 ? first : second).subject, NOON_MS));
    t.equal(count(await engine.admit(batch), 'admitted'), 50);
    const rest = await engine.admit(batch);
    t.equal(count(rest, 'admitted'), 10);
    t.match(byName(limited(rest[10]!)), {
      ...{ violated: 'minute', keyId: first.id },
      windows: { minute: { limit: 60, remaining: 0 } },
    });
    t.match(byName(await ask(engine, second, NOON_MS, { cost: 0 })), {
      ...{ plan: 'free', keyId: second.id },
      windows: { minute: { remaining: 0 }, day: { remaining: 940 } },
    });
    const lone = standing(await ask(engine, await newKey(engine, 'free'), NOON_MS));
    t.equal(windowOf(lone, 'minute').remaining, 59, 'a key without a customer has its own');
  });

  t.test('a refused request of one key takes nothing from the others', async (t) => {
    const { id } = await newCustomer(engine, 'priced');
    const [first, second] = [await keyOf(engine, id), await keyOf(engine, id)];
    const batch = [first, second, first, second].map(({ subject }) =>
      requestOf(subject, NOON_MS, { operation: CREATE }),
    );
    const verdicts = await engine.admit(batch);
    t.same(
      verdicts.map(({ outcome }) => outcome),
      ['admitted', 'admitted', 'admitted', 'limited'],
      '15 units a minute, 5 each',
    );
    const shown = standing(await ask(engine, second, NOON_MS, { operation: CREATE, cost: 0 }));
    t.same(
      othersOf(shown).map(({ name, remaining }) => [name, remaining]),
      [
        ['month', 985],
        [`${CREATE}-minute`, 0],
        [`${CREATE}-day`, 15],
      ],
    );
    t.equal(windowOf(shown, 'day').remaining, 185);
  });

  t.test('a change of the customer holds on the next admission of each key', async (t) => {
    const made = await newCustomer(engine, 'free');
    const keys = [await keyOf(engine, made.id), await keyOf(engine, made.id)];
    for (const key of keys) t.equal((await ask(engine, key, NOON_MS)).outcome, 'admitted');
    const pro = await changeCustomer(engine, made, { plan: 'pro' });
    for (const key of keys) {
      const shown = byName(await ask(engine, key, NOON_MS, { cost: 0 }));
      t.match(shown, { plan: 'pro', windows: { minute: { remaining: 298 } } });
    }
    const own = await changeCustomer(engine, pro, { plan: 'enterprise', limits: { minute: 3, day: 9, month: 4 } });
    t.match(byName(await ask(engine, keys[0]!, NOON_MS)).windows, {
      minute: { limit: 3, remaining: 0 },
      month: { limit: 4, remaining: 1 },
    });
    const later = NOON_MS + 61 * SECOND_MS;
    t.match(byName(await ask(engine, keys[1]!, later)).windows, { month: { limit: 4, remaining: 0 } });
    const disabled = await changeCustomer(engine, own, { status: 'disabled' });
    t.match(await ask(engine, keys[1]!, later), { outcome: 'unknown_key', reason: 'disabled' });
    await changeCustomer(engine, disabled, { status: 'closed' });
    for (const key of keys) t.match(await ask(engine, key, later), { outcome: 'unknown_key', reason: 'closed' });
  });

  t.test('what speaks against the key itself is said first', async (t) => {
    const { id } = await newCustomer(engine, 'gone');
    const key = await keyOf(engine, id, { expiresAtMs: NOON_MS });
    t.match(await ask(engine, key, NOON_MS - 1), { reason: 'no_plan' });
    t.match(await ask(engine, key, NOON_MS), { reason: 'expired' });
    const wrong = { ...key.subject, secretHash: 'wrong' };
    t.match(await ask(engine, wrong, NOON_MS), { reason: 'unknown' });
    await change(engine, key, { status: 'disabled' });
    t.match(await ask(engine, key, NOON_MS), { reason: 'disabled' });
    const orphan = await keyOf(engine, freshCustomerId());
    t.match(await ask(engine, orphan, NOON_MS), { outcome: 'unknown_key', reason: 'unknown' });
  });

  t.test("strikes and bans are the key's: its siblings go on", async (t) => {
    const { id } = await newCustomer(engine, 'strict');
    const [loop, calm] = [await keyOf(engine, id), await keyOf(engine, id)];
    const batch = [loop, loop, calm, loop, calm, loop, calm, loop].map(({ subject }) => requestOf(subject, NOON_MS));
    t.same(
      (await engine.admit(batch)).map(({ outcome }) => outcome),
      ['admitted', 'limited', 'limited', 'limited', 'limited', 'banned', 'banned', 'banned'],
      'each has three strikes of its own',
    );
    t.match(banned(await ask(engine, loop, NOON_MS + SECOND_MS)), { level: 1, started: false });
    const fresh = await keyOf(engine, id);
    t.equal((await ask(engine, fresh, NOON_MS + SECOND_MS)).outcome, 'limited');
    t.equal((await ask(engine, fresh, NOON_MS + 61 * SECOND_MS)).outcome, 'admitted');
    t.equal(await liftBan(engine, loop), true);
    t.equal((await ask(engine, loop, NOON_MS + 62 * SECOND_MS)).outcome, 'limited', "the window is the customer's");
    t.equal((await engine.bans.read(calm.id))?.level, 1);
  });

  t.test('strikes add up over calls, key by key', async (t) => {
    const { id } = await newCustomer(engine, 'strict');
    const [loop, calm] = [await keyOf(engine, id), await keyOf(engine, id)];
    const outcomes: string[] = [];
    for (const key of [loop, calm, loop, loop, calm, loop]) outcomes.push((await ask(engine, key, NOON_MS)).outcome);
    t.same(outcomes, ['admitted', 'limited', 'limited', 'limited', 'limited', 'banned']);
  });

  t.test('a ban by hand leaves the buckets of the customer as they are', async (t) => {
    const { id } = await newCustomer(engine, 'calm');
    const [first, second] = [await keyOf(engine, id), await keyOf(engine, id)];
    await ask(engine, first, NOON_MS);
    await startBan(engine, first, NOON_MS + SECOND_MS);
    t.equal((await ask(engine, first, NOON_MS)).outcome, 'banned');
    const leaves = (remaining: number): object => ({ outcome: 'admitted', windows: { minute: { remaining } } });
    t.match(byName(await ask(engine, second, NOON_MS)), leaves(1));
    t.match(byName(await ask(engine, first, NOON_MS + SECOND_MS)), leaves(0));
  });

  t.test("the ledger counts each key, under the customer's plan", async (t) => {
    const { id } = await newCustomer(engine, 'calm');
    const [first, second] = [await keyOf(engine, id), await keyOf(engine, id)];
    const batch = [first, first, second, second].map(({ subject }) => requestOf(subject, NOON_MS));
    await engine.admit(batch);
    const day = dayName(NOON_MS);
    t.match(await rowsOf(engine, day, day, first.id), [
      { plan: 'calm', requests: 2, units: 2, returned: 0, limited: 0 },
    ]);
    t.match(await rowsOf(engine, day, day, second.id), [
      { plan: 'calm', requests: 1, units: 1, returned: 0, limited: 1 },
    ]);
    t.same(await rowsOf(engine, day, day, id), [], 'a customer itself has no rows');
  });

  t.test("scopes are the key's", async (t) => {
    const { id } = await newCustomer(engine, 'free');
    const key = await keyOf(engine, id, { scopes: ['pets:read'] });
    t.match(await ask(engine, key, NOON_MS, { scope: 'pets:write' }), { outcome: 'admitted', inScope: false });
    t.match(await ask(engine, key, NOON_MS, { scope: 'pets:read' }), { outcome: 'admitted', inScope: true });
    const scopes = ['pets:write', null, 'pets:read', 'pets:write'];
    const verdicts = await engine.admit(scopes.map((scope) => requestOf(key.subject, NOON_MS, { scope })));
    t.match(
      verdicts,
      [false, true, true, false].map((inScope) => ({ inScope })),
      'each request of a batch has its own',
    );
  });
}
