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

t.test('the store’s clock is taken from answers: never ahead of the truth, and back when it was set back', async (t) => {
  const { lane } = scene();
  t.equal(lane.storeMsAt(0), undefined);
  await lane.ready();
  const here = performance.now();
  const shown = (): number => Math.round((lane.storeMsAt(here) ?? NaN) - here);
  lane.note(performance.now() + 50_000 - 30);
  t.ok(shown() >= 49_960 && shown() <= 49_970, 'an answer that took 30 ms');
  lane.note(performance.now() + 50_000);
  t.ok(shown() >= 49_990 && shown() <= 50_000, 'a quicker one is nearer the truth');
  lane.note(performance.now() + 50_000 - 60);
  t.ok(shown() >= 49_990, 'a slower one says nothing new');
  lane.note(performance.now() + 20_000);
  t.ok(shown() <= 20_000, 'a clock that was set back');
  lane.fail('lost');
  t.equal(lane.storeMsAt(here), undefined, 'another node may have another clock');
  lane.close();
});
