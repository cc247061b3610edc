import t from 'tap';
import { Breaker, type BreakerChange } from '../../../../src/gateway/upstream/addresses/breaker.js';

const SETTINGS = { failures: 3, open: 1000, cap: 3000 };

function closed(): {
  readonly breaker: Breaker;
  readonly changes: BreakerChange[];
  readonly fail: (times: number, nowMs: number) => void;
} {
  const changes: BreakerChange[] = [];
  const breaker = new Breaker(SETTINGS, (change) => changes.push(change));
  const fail = (times: number, nowMs: number): void => {
    for (let n = 0; n < times; n += 1) breaker.ended(breaker.send('one', nowMs), 'lost', 'one', nowMs);
  };
  return { breaker, changes, fail };
}

/** Open since 10 s, due at 11 s. */
function opened(): ReturnType<typeof closed> {
  const stage = closed();
  stage.fail(3, 10_000);
  return stage;
}

t.test('so many failures in a row open it; a good answer in between begins the row anew', (t) => {
  const { breaker, changes, fail } = closed();
  fail(2, 0);
  breaker.ended(breaker.send('one', 1), 'good', 'one', 1);
  fail(2, 1000);
  t.equal(breaker.isOpen, false);
  fail(1, 1000);
  t.equal(breaker.isOpen, true);
  t.strictSame(changes, [{ open: true, failure: 'lost' }]);
  t.equal(breaker.dueMs, 2000);
  t.end();
});

t.test('an attempt that says nothing neither opens it nor begins the row anew', (t) => {
  const { breaker, fail } = closed();
  fail(2, 0);
  for (let n = 0; n < 10; n += 1) breaker.ended(breaker.send('one', 0), null, 'one', 0);
  t.equal(breaker.isOpen, false);
  fail(1, 0);
  t.equal(breaker.isOpen, true);
  t.end();
});

t.test('what breaks all at once just after a good answer does not open it; that it goes on does', (t) => {
  const { breaker, fail } = closed();
  breaker.ended(breaker.send('one', 0), 'good', 'one', 1000);
  fail(100, 1001);
  t.equal(breaker.isOpen, false);
  fail(1, 1250);
  t.equal(breaker.isOpen, true);
  t.end();
});

t.test('a hundred that fail together are one outage, and cost it no longer time', (t) => {
  const { breaker, changes } = closed();
  const sent = Array.from({ length: 100 }, () => breaker.send('one', 0));
  sent.forEach((one, index) => breaker.ended(one, 'timeout', 'one', 15_000 + index));
  t.equal(changes.length, 1);
  t.equal(breaker.dueMs, 16_002, 'a second after the one that opened it');
  t.end();
});

t.test('trials go out at each due time, which doubles up to the cap, whether they fail or hang', (t) => {
  const { breaker, changes } = opened();
  t.equal(breaker.dueMs, 11_000);
  const hung = breaker.send('one', 11_000);
  t.equal(breaker.dueMs, 13_000);
  breaker.ended(breaker.send('one', 13_000), 'unreachable', 'one', 13_000);
  t.equal(breaker.dueMs, 16_000, 'the cap');
  breaker.send('one', 16_500);
  t.equal(breaker.dueMs, 19_500);
  breaker.ended(hung, 'timeout', 'one', 17_000);
  t.equal(breaker.dueMs, 19_500, 'one that hung is no new failure');
  t.equal(changes.length, 1);
  t.end();
});

t.test('a trial that goes well closes it, and the next outage begins with the first time again', (t) => {
  const { breaker, changes, fail } = opened();
  breaker.send('one', 11_000);
  breaker.ended(breaker.send('one', 13_000), 'good', 'one', 13_100);
  t.equal(breaker.isOpen, false);
  t.strictSame(changes[1], { open: false, openedForMs: 3100 });
  t.equal(breaker.dueMs, -Infinity);
  fail(3, 20_000);
  t.equal(breaker.dueMs, 21_000);
  t.end();
});

t.test('what was sent before it opened says nothing of what comes after, be it good or bad', (t) => {
  const { breaker } = closed();
  const before = Array.from({ length: 20 }, () => breaker.send('one', 0));
  for (const one of before.slice(0, 3)) breaker.ended(one, 'timeout', 'one', 10_000);
  breaker.ended(before[3]!, 'good', 'one', 10_001);
  t.equal(breaker.isOpen, true, 'a late answer is no trial');
  breaker.ended(breaker.send('one', 11_000), 'good', 'one', 11_010);
  for (const one of before.slice(4)) breaker.ended(one, 'timeout', 'one', 15_000);
  t.equal(breaker.isOpen, false, 'nor does one that hung since then open it again');
  t.end();
});

t.test('who knows that it may be well again makes the next request a trial', (t) => {
  const { breaker } = opened();
  breaker.probeNow();
  t.ok(breaker.dueMs < 10_001);
  breaker.ended(breaker.send('one', 10_001), 'good', 'one', 10_002);
  t.equal(breaker.isOpen, false);
  t.end();
});

t.test('what one caller provokes keeps only that one away, and nobody once another is served', (t) => {
  const { breaker, fail } = closed();
  fail(100, 0);
  t.ok(breaker.isOpenFor('one'));
  t.notOk(breaker.isOpenForAll || breaker.isOpenFor('two'));
  const { dueMs } = breaker;
  const passed = breaker.send('two', 500);
  t.equal(breaker.dueMs, dueMs, 'a request of another is no trial');
  breaker.ended(passed, 'good', 'two', 501);
  t.notOk(breaker.isOpen);
  t.end();
});

t.test('it opens for all once several callers saw failures', (t) => {
  const { breaker, changes, fail } = closed();
  fail(3, 0);
  breaker.ended(breaker.send('two', 1), 'timeout', 'two', 1);
  t.ok(breaker.isOpenFor('two'), 'those who saw one are kept away at once');
  t.notOk(breaker.isOpenFor('three'));
  breaker.ended(breaker.send('three', 2), 'lost', 'three', 2);
  t.ok(breaker.isOpenForAll && breaker.isOpenFor('four'));
  t.same(changes, [
    { open: true, failure: 'lost' },
    { open: true, failure: 'lost' },
  ]);
  t.end();
});

t.test('what no caller can provoke, that there is no connection, opens it for all', (t) => {
  const { breaker } = closed();
  for (let n = 0; n < 3; n += 1) breaker.ended(breaker.send('one', n), 'unreachable', 'one', n);
  t.ok(breaker.isOpenForAll);
  t.end();
});

t.test('one that is switched off never opens', (t) => {
  const breaker = new Breaker(null, () => t.fail());
  for (let n = 0; n < 100; n += 1) breaker.ended(breaker.send('one', n * 1000), 'unreachable', 'one', n * 1000);
  t.equal(breaker.isOpen, false);
  t.end();
});
