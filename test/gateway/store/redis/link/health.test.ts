import t from 'tap';
import type { Test } from 'tap';
import { LoopClock } from '../../../../../src/gateway/store/redis/link/loop-clock.js';
import { NodeHealth } from '../../../../../src/gateway/store/redis/link/health.js';
import { until } from '../../../../servers/until.js';

const DEADLINE_MS = 200;

interface Scene {
  readonly node: NodeHealth;
  readonly clock: LoopClock;
  readonly redis: { up: boolean; probes: number };
  readonly changes: (string | null)[];
  /** A call that began now. */
  readonly untilMs: () => number;
}

/** A node that answers probes or not, as Link holds it. */
function sceneOf(t: Test, up = true): Scene {
  const redis = { up, probes: 0 };
  const changes: (string | null)[] = [];
  const clock: LoopClock = new LoopClock(() => node.tick());
  const probe = (): Promise<void> => {
    redis.probes += 1;
    if (!redis.up) return Promise.reject(new Error('gone'));
    node.storeClock.note(1_000, 0);
    return Promise.resolve();
  };
  const node: NodeHealth = new NodeHealth({
    clock,
    deadlineMs: DEADLINE_MS,
    probe,
    changed: (reason) => changes.push(reason),
  });
  t.teardown(() => {
    node.close();
    clock.stop();
  });
  return { node, clock, redis, changes, untilMs: () => clock.nowMs + DEADLINE_MS };
}

t.test('it answers from its first good probe on, and what came before waited for that', async (t) => {
  const { node, untilMs, changes } = sceneOf(t);
  t.equal(node.answers, false);
  await node.ready(untilMs());
  t.equal(node.answers, true);
  t.strictSame(changes, [], 'it was never away');
});

t.test('a failure is doubt: calls wait, and go on when the node answers again', async (t) => {
  const { node, redis, untilMs, changes } = sceneOf(t);
  await node.ready(untilMs());
  redis.up = false;
  node.failed('READONLY', false);
  t.equal(node.answers, false);
  t.equal(node.unavailable, null);
  const waiting = node.ready(untilMs());
  redis.up = true;
  await waiting;
  t.strictSame(changes, []);
});

t.test(
  'failing for as long as the deadline it is unavailable, refuses at once, and comes back by a probe',
  async (t) => {
    const { node, clock, redis, untilMs, changes } = sceneOf(t);
    await node.ready(untilMs());
    redis.up = false;
    node.failed('no connection', true);
    await t.rejects(node.ready(untilMs()), {
      name: 'StoreUnavailable',
      message: 'the store is unavailable: gone',
      noEffect: true,
    });
    t.strictSame(changes, ['gone'], 'told before those who waited');
    t.equal(node.unavailable, 'gone');
    const { nowMs } = clock;
    await t.rejects(node.ready(untilMs()));
    t.equal(clock.nowMs, nowMs, 'at once');
    redis.up = true;
    await until('it answers', () => node.answers);
    t.strictSame(changes, ['gone', null]);
  },
);

t.test('a call without an answer: others wait, both for no longer than the deadline', async (t) => {
  const { node, redis, untilMs } = sceneOf(t);
  await node.ready(untilMs());
  redis.up = false;
  const sent = t.rejects(node.sent(new Promise(() => undefined), untilMs()), { name: 'Overdue' });
  await until('it is silent', () => !node.answers);
  t.equal(node.unavailable, null, 'which may be a stall');
  await t.rejects(node.ready(untilMs()), { name: 'StoreUnavailable', noEffect: true });
  t.equal(node.unavailable, 'gone');
  await sent;
});

t.test('one slow call among others that are answered is that call alone', async (t) => {
  const { node, untilMs, changes } = sceneOf(t);
  await node.ready(untilMs());
  const over = { slow: false };
  const slow = t.rejects(node.sent(new Promise(() => undefined), untilMs())).then(() => (over.slow = true));
  while (!over.slow) {
    await node.sent(new Promise((resolve) => setTimeout(resolve, 5)), untilMs());
    node.answered();
  }
  await slow;
  t.equal(node.answers, true);
  t.strictSame(changes, []);
});

t.test('our own loop stands still for longer than the deadline: nobody is given up', async (t) => {
  const { node, untilMs, changes } = sceneOf(t);
  await node.ready(untilMs());
  // Its answer is there before the loop goes on, as it would be in a socket.
  let answer: () => void = () => undefined;
  const call = node.sent(new Promise<void>((resolve) => (answer = resolve)), untilMs());
  await new Promise((resolve) => setTimeout(resolve, 30));
  const endMs = performance.now() + 3 * DEADLINE_MS;
  while (performance.now() < endMs);
  setTimeout(() => answer(), 1);
  await call;
  t.equal(node.answers, true);
  t.strictSame(changes, []);
});

t.test('a connection that was lost takes the clock with it: another node may come in its place', async (t) => {
  const { node, redis, untilMs } = sceneOf(t);
  await node.ready(untilMs());
  t.equal(node.storeClock.at(5), 1_005);
  redis.up = false;
  node.failed('lost', true);
  t.equal(node.storeClock.at(5), undefined);
  node.answered();
  t.equal(node.answers, false, 'an answer that does not tell the clock is not enough');
});

t.test('closed, it refuses and probes no more', async (t) => {
  const { node, redis, untilMs } = sceneOf(t, false);
  const waiting = t.rejects(node.ready(untilMs()), /closed/);
  node.close();
  await waiting;
  const { probes } = redis;
  await new Promise((resolve) => setTimeout(resolve, 60));
  t.ok(redis.probes <= probes + 1);
  await t.rejects(node.ready(untilMs()), /closed/);
});
