import type { Test } from 'tap';
import { DAY_MS, MINUTE_MS, UNLIMITED_FIGURE } from '../../src/gateway/admission/bucket.js';
import type { Subject } from '../../src/gateway/admission/port.js';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import {
  ask,
  askMany,
  change,
  count,
  custom,
  DAY_START_MS,
  freshId,
  limited,
  newKey,
  NOON_MS,
  requestOf,
  rowsOf,
  dayName,
  standing,
} from './cast.js';
import { windowOf } from '../gateway/admission/verdict.js';
import { LIST } from './names.js';

/** The two buckets, minute and day, interval and greedy. */
export function buckets(t: Test, engine: AdmissionEngine): void {
  t.test('exactly the limit is admitted, one by one or in a batch', async (t) => {
    const key = await newKey(engine, 'free');
    const batch = await askMany(engine, key, 40, NOON_MS);
    const remaining = batch.map((verdict) => windowOf(standing(verdict), 'minute').remaining);
    t.same(
      remaining,
      Array.from({ length: 40 }, (_, n) => 59 - n),
      'remaining counts down by one',
    );
    for (let n = 0; n < 20; n += 1) t.equal((await ask(engine, key, NOON_MS + n)).outcome, 'admitted');
    const over = await askMany(engine, key, 25, NOON_MS + 100);
    t.equal(count(over, 'limited'), 25);
  });

  t.test('a token comes from both buckets or from neither', async (t) => {
    const key = await newKey(engine, 'calm');
    const first = await askMany(engine, key, 10, NOON_MS);
    t.equal(count(first, 'admitted'), 3, 'the minute binds');
    t.equal(windowOf(standing(first[9]!), 'day').remaining, 2, 'seven refusals took nothing from the day');
    const second = await askMany(engine, key, 10, NOON_MS + MINUTE_MS);
    t.equal(count(second, 'admitted'), 2, 'the day binds');
    t.equal(windowOf(standing(second[9]!), 'minute').remaining, 1, 'eight refusals took nothing from the minute');
    t.equal(limited(second[9]!).violated, 'day');
  });

  t.test('a minute opens with its first request, not with a look at it', async (t) => {
    const key = await newKey(engine, 'calm');
    const look = standing(await ask(engine, key, NOON_MS, { cost: 0 }));
    t.equal(windowOf(look, 'minute').resetAtMs, NOON_MS, 'an untouched minute is full already');
    const openMs = NOON_MS + 12_345;
    t.equal(windowOf(standing(await ask(engine, key, openMs)), 'minute').resetAtMs, openMs + MINUTE_MS);
    await askMany(engine, key, 2, openMs + 30_000);
    const refused = limited(await ask(engine, key, openMs + MINUTE_MS - 1));
    t.equal(refused.violated, 'minute');
    t.equal(refused.retryAtMs, openMs + MINUTE_MS);
    const again = standing(await ask(engine, key, openMs + MINUTE_MS));
    t.equal(again.outcome, 'admitted');
    t.equal(windowOf(again, 'minute').remaining, 2, 'the whole bucket came back');
  });

  t.test('the day is the UTC day and turns at midnight', async (t) => {
    const key = await newKey(engine, 'calm');
    const midnightMs = DAY_START_MS + DAY_MS;
    await askMany(engine, key, 3, midnightMs - 2 * MINUTE_MS);
    await askMany(engine, key, 3, midnightMs - MINUTE_MS);
    const refused = limited(await ask(engine, key, midnightMs - 1));
    t.equal(refused.violated, 'day');
    t.equal(refused.retryAtMs, midnightMs);
    const next = standing(await ask(engine, key, midnightMs));
    t.equal(next.outcome, 'admitted');
    t.equal(windowOf(next, 'day').remaining, 4);
    t.equal(windowOf(next, 'day').resetAtMs, midnightMs + DAY_MS);
  });

  t.test('interval: Retry-After is the first moment that can succeed', async (t) => {
    for (const plan of ['calm', 'strict']) {
      const key = await newKey(engine, plan);
      let nowMs = NOON_MS + 777;
      for (let round = 0; round < 4; round += 1) {
        while ((await ask(engine, key, nowMs)).outcome === 'admitted') nowMs += 5;
        const { retryAtMs } = limited(await ask(engine, key, nowMs, { cost: 0 }));
        t.equal(
          (await ask(engine, key, retryAtMs - 1, { cost: 0 })).outcome,
          'limited',
          'a moment before is too early',
        );
        t.equal((await ask(engine, key, retryAtMs)).outcome, 'admitted');
        nowMs = retryAtMs;
      }
    }
  });

  t.test(
    'greedy: tokens trickle back; Reset is when the bucket is full, Retry-After when a token is there',
    async (t) => {
      for (const plan of ['drip', 'trickle']) {
        const key = await newKey(engine, plan);
        let nowMs = NOON_MS;
        for (let round = 0; round < 5; round += 1) {
          while ((await ask(engine, key, nowMs)).outcome === 'admitted') nowMs += 13;
          const { retryAtMs } = limited(await ask(engine, key, nowMs, { cost: 0 }));
          t.equal(
            (await ask(engine, key, retryAtMs - 1, { cost: 0 })).outcome,
            'limited',
            'a moment before is too early',
          );
          t.equal((await ask(engine, key, retryAtMs)).outcome, 'admitted');
          nowMs = retryAtMs;
        }
        const { windows } = standing(await ask(engine, key, nowMs, { cost: 0 }));
        t.same(
          windows.map(({ name }) => name),
          ['minute', 'day'],
        );
        for (const { name: window, resetAtMs, limit } of windows) {
          t.equal(
            windowOf(standing(await ask(engine, key, resetAtMs, { cost: 0 })), window).remaining,
            limit,
            `${window} is full at Reset`,
          );
          t.not(
            windowOf(standing(await ask(engine, key, resetAtMs - 1, { cost: 0 })), window).remaining,
            limit,
            `and not a moment before`,
          );
        }
      }
    },
  );

  t.test('greedy: over any stretch of time at most the bucket plus its trickle', async (t) => {
    const key = await newKey(engine, 'drip');
    const spanMs = 10 * MINUTE_MS;
    let admitted = 0;
    for (let atMs = 0; atMs < spanMs; atMs += 20_000)
      admitted += count(await askMany(engine, key, 5, NOON_MS + atMs), 'admitted');
    t.equal(admitted, 7 + Math.floor((7 * (spanMs - 20_000)) / MINUTE_MS));
  });

  t.test('unlimited is admitted always, and shows its own figure', async (t) => {
    const key = await newKey(engine, 'open');
    const verdicts = await askMany(engine, key, 500, NOON_MS);
    t.equal(count(verdicts, 'admitted'), 500);
    t.same(
      standing(verdicts[499]!).windows.map(({ name, limit, remaining }) => [name, limit, remaining]),
      [
        ['minute', 'unlimited', UNLIMITED_FIGURE],
        ['day', 'unlimited', UNLIMITED_FIGURE],
      ],
    );
  });

  t.test('a plan change holds at once in mid-window, both ways', async (t) => {
    const key = await newKey(engine, 'free');
    await askMany(engine, key, 60, NOON_MS);
    t.equal((await ask(engine, key, NOON_MS)).outcome, 'limited');
    await change(engine, key, { plan: 'pro' });
    t.equal(
      windowOf(standing(await ask(engine, key, NOON_MS + 1)), 'minute').remaining,
      300 - 61,
      'up: what was spent stays spent',
    );
    await askMany(engine, key, 20, NOON_MS + 2);
    await change(engine, key, { plan: 'free' });
    const down = limited(await ask(engine, key, NOON_MS + 3));
    t.same([down.plan, windowOf(down, 'minute').remaining, down.retryAtMs], ['free', 0, NOON_MS + MINUTE_MS]);
    await change(engine, key, { plan: 'open' });
    await askMany(engine, key, 10, NOON_MS + 4);
    await change(engine, key, { plan: 'pro' });
    t.equal(
      windowOf(standing(await ask(engine, key, NOON_MS + 5)), 'minute').remaining,
      300 - 92,
      'an unlimited plan counted too',
    );
  });

  t.test('custom limits stand on the key, each a number or unlimited', async (t) => {
    const key = await newKey(engine, 'enterprise', custom(2, 'unlimited'));
    const verdicts = await askMany(engine, key, 3, NOON_MS);
    t.equal(count(verdicts, 'admitted'), 2);
    t.same(
      standing(verdicts[0]!).windows.map(({ limit }) => limit),
      [2, 'unlimited'],
    );
    await change(engine, key, custom('unlimited', 3));
    const after = await askMany(engine, key, 2, NOON_MS);
    t.equal(count(after, 'admitted'), 1);
    t.equal(limited(after[1]!).violated, 'day');
  });

  t.test('cost 0 shows the figures and changes nothing', async (t) => {
    const key = await newKey(engine, 'free');
    await askMany(engine, key, 60, NOON_MS);
    for (let n = 0; n < 50; n += 1)
      t.equal((await ask(engine, key, NOON_MS + 10 + n, { cost: 0 })).outcome, 'limited', 'no strike');
    // A look from far ahead must not turn the window for those who come now.
    await ask(engine, key, NOON_MS + 2 * DAY_MS, { cost: 0 });
    const now = limited(await ask(engine, key, NOON_MS + 100));
    t.equal(windowOf(now, 'day').remaining, 940);
    t.same(await rowsOf(engine, dayName(NOON_MS), dayName(NOON_MS), key.id), [
      {
        key: key.id,
        plan: 'free',
        operation: LIST,
        day: dayName(NOON_MS),
        requests: 60,
        units: 60,
        returned: 0,
        limited: 1,
        banned: 0,
        failed: 0,
      },
    ]);
  });

  t.test('a clock that steps back never admits more', async (t) => {
    const key = await newKey(engine, 'calm');
    await askMany(engine, key, 3, NOON_MS);
    for (const backMs of [1, MINUTE_MS, 3 * MINUTE_MS, DAY_MS, 3 * DAY_MS])
      t.equal((await ask(engine, key, NOON_MS - backMs)).outcome, 'limited', `${backMs} ms back`);
    t.equal((await ask(engine, key, NOON_MS + MINUTE_MS)).outcome, 'admitted', 'and goes on as if nothing had been');
    const greedy = await newKey(engine, 'drip');
    await askMany(engine, greedy, 7, NOON_MS);
    for (const atMs of [NOON_MS - 1, NOON_MS - 30_000, NOON_MS - 60_000, NOON_MS - 60_000 + 8_571])
      t.equal((await ask(engine, greedy, atMs)).outcome, 'limited');
    t.equal(
      (await ask(engine, greedy, NOON_MS - 60_000 + 8_572)).outcome,
      'admitted',
      'tokens come from the new now on',
    );
  });

  t.test('a request while the clock was hours ahead costs its token, and freezes nothing', async (t) => {
    for (const aheadMs of [90_000, 5 * 3_600_000, 20 * 3_600_000, 40 * DAY_MS]) {
      for (const [plan, minute] of [
        ['pro', 300],
        ['drip', 7],
      ] as const) {
        const key = await newKey(engine, plan);
        await ask(engine, key, NOON_MS + aheadMs);
        const name = `${plan}, ${aheadMs / 60_000} minutes ahead`;
        t.equal(count(await askMany(engine, key, minute + 10, NOON_MS), 'admitted'), minute - 1, name);
        const after = standing(await ask(engine, key, NOON_MS, { cost: 0 }));
        t.equal(windowOf(after, 'minute').resetAtMs, NOON_MS + MINUTE_MS, `${name}: whole one window from now`);
        if (plan === 'pro')
          t.equal(windowOf(after, 'day').resetAtMs, DAY_START_MS + DAY_MS, `${name}: and the day at its midnight`);
        t.equal(count(await askMany(engine, key, minute + 10, NOON_MS + MINUTE_MS), 'admitted'), minute, name);
      }
    }
  });

  t.test('strikes that were counted while the clock was ahead are no older than now', async (t) => {
    const key = await newKey(engine, 'strict');
    await askMany(engine, key, 2, NOON_MS + 5 * 3_600_000);
    t.equal((await ask(engine, key, NOON_MS)).outcome, 'limited', 'the second');
    t.equal((await ask(engine, key, NOON_MS + 10_000)).outcome, 'limited', 'ten seconds later they are forgotten');
    t.equal((await ask(engine, key, NOON_MS + 10_001)).outcome, 'limited');
    t.equal((await ask(engine, key, NOON_MS + 10_002)).outcome, 'banned');
  });

  t.test('an address is judged by the plan anonymous, apart from all others', async (t) => {
    const address: Subject = { kind: 'address', address: `2001:db8:${freshId().slice(0, 4)}:${freshId().slice(0, 4)}` };
    const verdicts = await askMany(engine, address, 6, NOON_MS);
    t.equal(count(verdicts, 'admitted'), 5);
    const refused = limited(verdicts[5]!);
    t.same(
      [refused.keyId, refused.plan, windowOf(refused, 'minute').limit, windowOf(refused, 'day').remaining],
      [null, 'anonymous', 5, 7],
    );
    const other = standing(
      await ask(engine, { kind: 'address', address: `198.51.100.${Math.floor(Math.random() * 250)}` }, NOON_MS, {
        cost: 0,
      }),
    );
    t.equal(other.outcome, 'admitted');
  });

  t.test('a batch is answered in its own order, each request on its own', async (t) => {
    const [a, b] = [await newKey(engine, 'calm'), await newKey(engine, 'free')];
    const stranger: Subject = { kind: 'key', id: freshId(), secretHash: 'none' };
    const subjects = [a, b, stranger, a, b, a, a].map((who) => ('subject' in who ? who.subject : who));
    const verdicts = await engine.admit(subjects.map((subject) => requestOf(subject, NOON_MS)));
    t.same(
      verdicts.map((verdict) => verdict.outcome),
      ['admitted', 'admitted', 'unknown_key', 'admitted', 'admitted', 'admitted', 'limited'],
    );
    t.same(
      verdicts.filter((verdict) => verdict.outcome !== 'unknown_key').map((verdict) => verdict.keyId),
      [a.id, b.id, a.id, b.id, a.id, a.id],
    );
    t.same(await engine.admit([]), []);
  });

  t.test('without a given time the store takes its own clock', async (t) => {
    const key = await newKey(engine, 'free');
    const beforeMs = Date.now();
    const [verdict] = await engine.admit([{ subject: key.subject, operation: LIST, scope: null, cost: 1 }]);
    const after = standing(verdict!);
    const { atMs } = after;
    t.ok(atMs >= beforeMs - 50 && atMs <= Date.now() + 50, 'which is the clock of this machine here');
    t.equal(windowOf(after, 'minute').resetAtMs, atMs + MINUTE_MS);
  });
}
