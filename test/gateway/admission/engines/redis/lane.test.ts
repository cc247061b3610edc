import t from 'tap';
import { Lane } from '../../../../../src/gateway/admission/engines/redis/lane.js';
import { until } from '../../../../servers/until.js';

const DEADLINE_MS = 100;

/** A node that is up or not, and its lane. */
function scene(): { lane: Lane; node: { up: boolean; probes: number }; changes: string[] } {
  const node = { up: true, probes: 0 };
  const changes: string[] = [];
  const probe = (): Promise<void> => {
    node.probes += 1;
    return node.up ? Promise.resolve() : Promise.reject(new Error('gone'));
  };
  return { lane: new Lane(probe, DEADLINE_MS, (up, reason) => changes.push(up ? 'up' : `down: ${reason}`)), node, changes };
}

t.test('a lane opens with its first probe, closes at the first failure and opens again by itself', async (t) => {
  const { lane, node, changes } = scene();
  await lane.ready();
  t.equal(lane.up, true);
  node.up = false;
  lane.fail('no answer');
  await t.rejects(lane.ready(), { name: 'StoreUnavailable' });
  lane.fail('still none');
  node.up = true;
  await until('it is up', () => lane.up, 1_000);
  t.same(changes, ['up', 'down: no answer', 'up']);
  lane.close();
});

t.test('who comes first waits for the first probe, but no longer than the deadline', async (t) => {
  const { lane, node } = scene();
  lane.close();
  const dead = new Lane(() => Promise.reject(new Error('gone')), DEADLINE_MS, () => undefined);
  const startMs = performance.now();
  await t.rejects(dead.ready(), { name: 'StoreUnavailable' });
  const waitedMs = performance.now() - startMs;
  t.ok(waitedMs < 2 * DEADLINE_MS, `${waitedMs.toFixed(0)} ms`);
  const againMs = performance.now();
  await t.rejects(dead.ready());
  t.ok(performance.now() - againMs < 20, 'after that nobody waits');
  dead.close();
  t.ok(node.probes > 0);
});

t.test('a closed lane probes no more', async (t) => {
  const { lane, node } = scene();
  await lane.ready();
  node.up = false;
  lane.fail('no answer');
  lane.close();
  const { probes } = node;
  await new Promise((resolve) => setTimeout(resolve, 60));
  t.ok(node.probes <= probes + 1);
  t.equal(lane.up, false);
});

t.test('a lane that was lost forgets the clock: another node may take its place', async (t) => {
  const { lane } = scene();
  await lane.ready();
  lane.clock.note(1_000, 0);
  t.equal(lane.clock.at(5), 1_005);
  lane.fail('lost');
  t.equal(lane.clock.at(5), undefined);
  lane.close();
});
