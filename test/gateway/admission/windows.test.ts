import t from 'tap';
import type { Buckets, HeldWindow } from '../../../src/gateway/admission/windows.js';
import {
  closeWindows,
  isWindowOver,
  operationTerms,
  refillOf,
  settleWindow,
  windowsOf,
} from '../../../src/gateway/admission/windows.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 15, 12);
const MONTH_START_MS = Date.UTC(2026, 10, 1);

t.test('a window is over at its end and not a millisecond before; a month ends with the calendar', (t) => {
  const cases: readonly (readonly [name: string, lastMs: number])[] = [
    ['getPet-minute', NOW_MS - MINUTE_MS],
    ['getPet-day', NOW_MS - DAY_MS],
  ];
  for (const [name, lastMs] of cases) {
    t.ok(isWindowOver(name, { level: 1, atMs: lastMs }, NOW_MS), name);
    t.notOk(isWindowOver(name, { level: 1, atMs: lastMs + 1 }, NOW_MS), name);
    t.ok(isWindowOver(name, { level: 0, atMs: NOW_MS }, NOW_MS), `${name}: nothing is spent`);
  }
  t.notOk(isWindowOver('getPet-month', { level: 1, atMs: MONTH_START_MS }, NOW_MS), 'since the first of the month');
  t.ok(isWindowOver('getPet-month', { level: 1, atMs: MONTH_START_MS - 1 }, NOW_MS));
  t.end();
});

t.test('windows that are over are dropped, the others stay, and none are no map', (t) => {
  const over = { level: 5, atMs: NOW_MS - 40 * DAY_MS };
  const windows = new Map([
    ['a-minute', over],
    ['a-day', { level: 5, atMs: NOW_MS - DAY_MS + 1 }],
    ['a-month', { level: 5, atMs: MONTH_START_MS }],
    ['b-month', over],
  ]);
  const buckets: Buckets = { minute: over, day: over, month: over, operationWindows: windows };
  closeWindows(buckets, NOW_MS);
  t.strictSame([...buckets.operationWindows!.keys()], ['a-day', 'a-month']);
  closeWindows(buckets, NOW_MS + 40 * DAY_MS);
  t.equal(buckets.operationWindows, null);
  closeWindows(buckets, NOW_MS);
  t.equal(buckets.operationWindows, null);
  t.end();
});

t.test('a month is refilled at its end on greedy plans too; a day and a minute as the plan says', (t) => {
  t.equal(refillOf('month', 'greedy'), 'interval');
  for (const per of ['minute', 'day'] as const) {
    t.equal(refillOf(per, 'greedy'), 'greedy');
    t.equal(refillOf(per, 'interval'), 'interval');
  }
  t.end();
});

t.test("an operation's window is full after a whole period without requests, with greedy refill too", (t) => {
  const held = (name: string, per: HeldWindow['per'], atMs: number): HeldWindow => ({
    ...{ name, per, limit: 1, refill: 'greedy' },
    // As much as three whole periods bring back.
    bucket: { level: 3 * (per === 'minute' ? MINUTE_MS : DAY_MS), atMs },
  });
  const levelOf = (window: HeldWindow): number => {
    settleWindow(window, NOW_MS);
    return window.bucket.level;
  };
  t.equal(levelOf(held('a-minute', 'minute', NOW_MS - MINUTE_MS)), 0);
  t.ok(levelOf(held('a-minute', 'minute', NOW_MS - MINUTE_MS + 1)) > MINUTE_MS);
  t.ok(levelOf(held('minute', 'minute', NOW_MS - MINUTE_MS)) > 0, "the plan's own goes on");
  t.equal(levelOf(held('a-day', 'day', NOW_MS - DAY_MS)), 0);
  t.end();
});

t.test('a plan without operations has no terms of theirs; one without a month has no window of it', (t) => {
  t.equal(operationTerms({}), undefined);
  const operations = operationTerms({ a: { day: 5 }, b: { cost: 3, minute: 1, month: 9 } })!;
  t.strictSame(operations.get('b'), {
    cost: 3,
    windows: [
      { name: 'b-minute', per: 'minute', limit: 1 },
      { name: 'b-month', per: 'month', limit: 9 },
    ],
  });
  t.strictSame(
    operations.get('*')!.windows.map(({ name }) => name),
    ['a-day', 'b-minute', 'b-month'],
  );
  const limits = { minute: 1, day: 2 };
  t.strictSame(windowsOf({ limits, operations }, 'a'), [{ name: 'a-day', per: 'day', limit: 5 }]);
  t.strictSame(windowsOf({ limits: { ...limits, month: 3 } }, 'a'), [{ name: 'month', per: 'month', limit: 3 }]);
  t.strictSame(windowsOf({ limits }, 'a'), []);
  t.end();
});
