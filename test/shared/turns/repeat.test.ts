import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { repeat } from '../../../src/shared/turns/repeat.js';
import { until } from '../../servers/until.js';

t.test('work is done at once and again after each pause, one at a time, whatever becomes of it', async (t) => {
  let [runs, underWay, most] = [0, 0, 0];
  const errors: unknown[] = [];
  const stop = repeat(
    1,
    async () => {
      runs += 1;
      most = Math.max(most, (underWay += 1));
      await sleep(5);
      underWay -= 1;
      if (runs === 2) throw new Error('the second');
    },
    (error) => errors.push(error),
  );
  t.equal(runs, 1, 'at once');
  await until('it goes on after an error', () => runs >= 4);
  t.equal(most, 1);
  t.match(errors, [{ message: 'the second' }]);
  await stop();
  t.equal(underWay, 0, 'what was under way has ended');
});

t.test('nothing is done after it was stopped', async (t) => {
  let runs = 0;
  let release: () => void = () => undefined;
  const stop = repeat(
    0,
    () => {
      runs += 1;
      return new Promise((resolve) => (release = resolve));
    },
    (error) => t.fail(String(error)),
  );
  const stopped = stop();
  release();
  await stopped;
  // A timer that was set before this one would have fired by then.
  await sleep(1);
  t.equal(runs, 1);
});
