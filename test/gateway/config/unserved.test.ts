import { pino } from 'pino';
import t from 'tap';
import type { Problem } from '../../../src/gateway/config/files/problem.js';
import { watchUnserved } from '../../../src/gateway/config/unserved.js';
import { until } from '../../servers/until.js';

const LOST: Problem = { file: 'plans.yaml', line: 3, column: 1, path: 'pro', message: 'the plan pro is gone' };

t.test('a key that is made on a plan while its removal is being checked is found after the reload', async (t) => {
  let [looked, found]: [number, readonly Problem[]] = [0, []];
  const watching = watchUnserved(
    () => {
      looked += 1;
      return Promise.resolve(found);
    },
    pino({ level: 'silent' }),
  );
  t.teardown(() => watching.stop());
  await until('it looked at the start', () => looked === 1);
  t.equal(watching.detail(), null);
  found = [LOST];
  watching.recheck(false);
  watching.recheck(true);
  await until('it looked after the reload', () => watching.detail() !== null);
  t.match(watching.detail(), 'plans.yaml:3:1: pro: the plan pro is gone');
  t.equal(looked, 2);
});
