import t from 'tap';
import { Healths } from '../../../../../src/gateway/store/redis/link/healths.js';
import type { NodeHealth } from '../../../../../src/gateway/store/redis/link/health.js';
import type { Log } from '../../../../../src/shared/log.js';
import { until } from '../../../../servers/until.js';

const DEADLINE_MS = 100;

t.test('a node is probed as soon as it is asked for, and by its own health', async (t) => {
  const probed: (readonly [string, NodeHealth])[] = [];
  const healths = new Healths(
    DEADLINE_MS,
    (name, health) => {
      probed.push([name, health]);
      return Promise.resolve();
    },
    undefined,
  );
  t.teardown(() => healths.close());
  t.equal(healths.known('a'), undefined);
  const health = healths.of('a');
  await Promise.resolve();
  t.equal(probed.length, 1);
  t.equal(probed[0]?.[0], 'a');
  t.equal(probed[0]?.[1], health);
  await healths.ready(() => healths.clock.nowMs + DEADLINE_MS);
  t.ok(health.answers);
  t.equal(healths.of('a'), health);
});

t.test('all are unavailable as soon as one of them is, until that one is forgotten', async (t) => {
  let told = 0;
  const healths = new Healths(
    DEADLINE_MS,
    (name) => (name === 'gone' ? Promise.reject(new Error('no connection')) : Promise.resolve()),
    undefined,
  );
  t.teardown(() => healths.close());
  healths.watcher = () => (told += 1);
  for (const name of ['there', 'gone']) healths.of(name);
  await until('it is unavailable', () => healths.unavailable !== null);
  t.match(healths.unavailable, 'no connection');
  t.ok(told > 0, 'the watcher is told');
  await t.rejects(
    healths.ready(() => healths.clock.nowMs + DEADLINE_MS),
    { name: 'StoreUnavailable' },
  );
  healths.forget('gone');
  t.equal(healths.unavailable, null);
});

t.test('after the end nobody is probed, nor waited for', async (t) => {
  let probes = 0;
  const healths = new Healths(
    DEADLINE_MS,
    () => {
      probes += 1;
      return Promise.resolve();
    },
    undefined,
  );
  healths.close();
  await t.rejects(healths.of('late').ready(healths.clock.nowMs + DEADLINE_MS), { name: 'StoreUnavailable' });
  t.equal(probes, 0);
});

t.test('a Redis that never answered is waited for; only one that did is said to be unavailable', async (t) => {
  const lines: string[] = [];
  const note = (_about: object, text: string): void => void lines.push(text);
  const log = { info: note, warn: note, error: note } as unknown as Log;
  let isThere = false;
  const healths = new Healths(DEADLINE_MS, () => (isThere ? Promise.resolve() : Promise.reject(new Error('no'))), log);
  t.teardown(() => healths.close());
  const health = healths.of('');
  await until('it is waited for', () => lines.includes('waiting for Redis'));
  isThere = true;
  await until('it is there', () => lines.includes('store is available'));
  isThere = false;
  health.failed('gone', true);
  await until('it is unavailable', () => lines.includes('store is unavailable'));
  t.strictSame(lines, ['waiting for Redis', 'store is available', 'store is unavailable']);
});
