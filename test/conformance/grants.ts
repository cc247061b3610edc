import type { Test } from 'tap';
import { DAY_MS, MINUTE_MS } from '../../src/gateway/admission/bucket.js';
import type { Grant } from '../../src/gateway/store/records/grant.js';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import {
  ask,
  askMany,
  change,
  changeCustomer,
  count,
  DAY_START_MS,
  keyOf,
  limited,
  newCustomer,
  newKey,
  NOON_MS,
  standing,
} from './cast.js';
import { byName, othersOf, windowOf } from '../gateway/admission/verdict.js';
import { CREATE, LIST } from './names.js';

function grant(window: Grant['window'], units: number, untilMs: number): Grant {
  return { id: 2, window, units, untilMs, note: 'a "note", with: 5+', actor: 'ops', atMs: DAY_START_MS };
}

/** More of one window for a while. */
export function grants(t: Test, engine: AdmissionEngine): void {
  t.test('they read back as they were written, also when none is left', async (t) => {
    const key = await newKey(engine, 'free');
    t.notOk('grants' in (await engine.keys.read(key.id))!);
    await change(engine, key, { grants: [grant('day', 5, NOON_MS), grant('month', 9, NOON_MS + 1)] });
    t.same(await engine.keys.read(key.id), key.record);
    await change(engine, key, { grants: [] });
    t.same(await engine.keys.read(key.id), key.record);
    const customer = await newCustomer(engine, 'free', { grants: [grant('minute', 1, NOON_MS)] });
    t.same(await engine.customers.read(customer.id), customer);
  });

  t.test('a grant holds from the next request on, and ends by itself in the midst of a window', async (t) => {
    const key = await newKey(engine, 'calm');
    t.equal(count(await askMany(engine, key, 4, NOON_MS), 'admitted'), 3);
    await change(engine, key, { grants: [grant('minute', 2, NOON_MS + 20_000)] });
    const verdicts = await askMany(engine, key, 3, NOON_MS + 1);
    t.equal(count(verdicts, 'admitted'), 2, 'three and two more');
    t.match(byName(limited(verdicts[2]!)), {
      violated: 'day',
      windows: {
        minute: { limit: 5, remaining: 0, granted: { units: 2, untilMs: NOON_MS + 20_000 } },
        day: { limit: 5, remaining: 0 },
      },
    });
    await change(engine, key, { grants: [...key.record.grants!, grant('day', 10, NOON_MS + DAY_MS)] });
    const before = standing(await ask(engine, key, NOON_MS + 19_999, { cost: 0 }));
    t.match(windowOf(before, 'minute'), { limit: 5, remaining: 0 });
    const after = limited(await ask(engine, key, NOON_MS + 20_000));
    t.match(byName(after), {
      violated: 'minute',
      windows: { minute: { limit: 3, remaining: 0 }, day: { limit: 15, remaining: 10 } },
    });
    t.notOk('granted' in windowOf(after, 'minute'));
    t.equal(after.retryAtMs, NOON_MS + MINUTE_MS, 'the window that was opened ends as it would have');
    const next = await askMany(engine, key, 4, NOON_MS + MINUTE_MS);
    t.equal(count(next, 'admitted'), 3);
  });

  t.test('requests of one batch are decided each by its time', async (t) => {
    const key = await newKey(engine, 'calm', { grants: [grant('minute', 2, NOON_MS + 100)] });
    const verdicts = await engine.admit(
      [0, 1, 2, 99, 100, 101].map((ms) => ({
        ...{ subject: key.subject, operation: LIST, scope: null, cost: 1 },
        nowMs: NOON_MS + ms,
      })),
    );
    t.same(
      verdicts.map((verdict) => [verdict.outcome, windowOf(standing(verdict), 'minute').limit]),
      [...new Array<unknown>(4).fill(['admitted', 5]), ['limited', 3], ['limited', 3]],
    );
  });

  t.test('several add up, each window by itself, and a month too', async (t) => {
    const key = await newKey(engine, 'monthly', {
      grants: [
        grant('month', 3, NOON_MS + 2),
        grant('month', 4, NOON_MS + 5),
        grant('day', 1, NOON_MS + 5),
        grant('day', 100, NOON_MS),
      ],
    });
    t.match(byName(await ask(engine, key, NOON_MS + 1)).windows, {
      minute: { limit: 60 },
      day: { limit: 1_001, remaining: 1_000 },
      month: { limit: 27, remaining: 26, granted: { units: 7, untilMs: NOON_MS + 2 } },
    });
    t.match(byName(await ask(engine, key, NOON_MS + 2)).windows, { month: { limit: 24, remaining: 22 } });
    const last = byName(await ask(engine, key, NOON_MS + 5)).windows;
    t.match(last, { day: { limit: 1_000, remaining: 997 }, month: { limit: 20, remaining: 17 } });
  });

  t.test('they go with limits of its own, and with the plan that comes', async (t) => {
    const key = await newKey(engine, 'enterprise', {
      limits: { minute: 4, day: 'unlimited', month: 8 },
      grants: [grant('minute', 1, NOON_MS + DAY_MS), grant('month', 2, NOON_MS + DAY_MS)],
    });
    const own = byName(await ask(engine, key, NOON_MS)).windows;
    t.match(own, { minute: { limit: 5 }, day: { limit: 'unlimited' }, month: { limit: 10 } });
    await change(engine, key, { plan: 'free', limits: null });
    t.same(
      standing(await ask(engine, key, NOON_MS)).windows.map(({ name, limit }) => [name, limit]),
      [
        ['minute', 61],
        ['day', 1_000],
      ],
    );
    await change(engine, key, { plan: 'open' });
    t.equal(windowOf(standing(await ask(engine, key, NOON_MS)), 'minute').limit, 'unlimited');
  });

  t.test('all keys of a customer share what is granted to it', async (t) => {
    const customer = await newCustomer(engine, 'calm');
    const keys = [await keyOf(engine, customer.id), await keyOf(engine, customer.id)];
    await changeCustomer(engine, customer, {
      grants: [grant('minute', 3, NOON_MS + 10), grant('day', 3, NOON_MS + DAY_MS)],
    });
    const outcomes: string[] = [];
    for (let n = 0; n < 8; n += 1) outcomes.push((await ask(engine, keys[n % 2]!, NOON_MS)).outcome);
    t.same(outcomes, [...new Array<string>(6).fill('admitted'), 'limited', 'limited']);
    for (const key of keys)
      t.match(byName(await ask(engine, key, NOON_MS + 10, { cost: 0 })).windows, {
        minute: { limit: 3, remaining: 0 },
      });
    t.match(byName(await ask(engine, keys[1]!, NOON_MS + MINUTE_MS)), {
      outcome: 'admitted',
      windows: { minute: { limit: 3, remaining: 2 }, day: { limit: 8, remaining: 1 } },
    });
  });

  t.test('a batch of keys with and without grants is told apart', async (t) => {
    const [plain, more] = [
      await newKey(engine, 'calm'),
      await newKey(engine, 'calm', { grants: [grant('day', 9, NOON_MS + DAY_MS)] }),
    ];
    const priced = await newKey(engine, 'priced', { grants: [grant('month', 9, NOON_MS + DAY_MS)] });
    const batch = [plain, more, priced, plain, more, priced].map(({ subject }) => ({
      ...{ subject, operation: CREATE, scope: null, cost: 1, nowMs: NOON_MS },
    }));
    const verdicts = (await engine.admit(batch)).map(standing);
    t.same(
      verdicts.map((verdict) => [windowOf(verdict, 'day').limit, othersOf(verdict).map(({ limit }) => limit)]),
      [
        [5, []],
        [14, []],
        [200, [1_009, 15, 30]],
        [5, []],
        [14, []],
        [200, [1_009, 15, 30]],
      ],
    );
  });

  t.test('a window that trickles promises only what holds after the end too', async (t) => {
    const endMs = NOON_MS + 10_000;
    const its = [grant('minute', 10, endMs), grant('day', 100, NOON_MS + DAY_MS)];
    const key = await newKey(engine, 'trickle', { grants: its });
    t.equal(count(await askMany(engine, key, 25, NOON_MS), 'admitted'), 20);
    const soon = limited(await ask(engine, key, NOON_MS));
    t.equal(soon.retryAtMs, NOON_MS + 3_000, 'twenty a minute, for now');
    t.equal((await ask(engine, key, NOON_MS + 2_999)).outcome, 'limited');
    t.equal((await ask(engine, key, soon.retryAtMs)).outcome, 'admitted');
    const verdicts = await askMany(engine, key, 3, endMs - 1_000);
    t.equal(count(verdicts, 'admitted'), 2);
    const late = limited(verdicts[2]!);
    t.ok(late.retryAtMs > endMs + 2_000, 'as fast as now it would come two seconds after the end');
    t.equal((await ask(engine, key, late.retryAtMs - 1, { cost: 0 })).outcome, 'limited');
    t.equal((await ask(engine, key, late.retryAtMs, { cost: 0 })).outcome, 'admitted');
  });
}
