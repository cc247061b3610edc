import t from 'tap';
import { createAllowance } from '../../../src/gateway/usage/allowance.js';

t.test('a burst, then so many a second; the wait told is long enough and no longer than needed', (t) => {
  const allowance = createAllowance(5, 20, 100);
  for (let n = 0; n < 20; n += 1) t.equal(allowance.take('a', 1_000), 0);
  t.equal(allowance.take('a', 1_000), 200);
  t.equal(allowance.take('a', 1_150), 50, 'a refusal takes nothing');
  t.equal(allowance.take('b', 1_150), 0, 'nobody pays for another');
  t.equal(allowance.take('a', 1_200), 0);
  t.equal(allowance.take('a', 1_200), 200);
  let given = 0;
  for (let ms = 1_200; ms < 11_200; ms += 10) if (allowance.take('a', ms) === 0) given += 1;
  t.ok(given >= 49 && given <= 50, 'five a second in the long run', { given });
  for (let n = 0; n < 20; n += 1)
    t.equal(allowance.take('a', 1_000_000), 0, 'idle time never gives more than the burst');
  t.not(allowance.take('a', 1_000_000), 0);
  t.end();
});

t.test('names beyond the bound are forgotten, the oldest first', (t) => {
  const allowance = createAllowance(1, 1, 2);
  t.equal(allowance.take('a', 0), 0);
  t.equal(allowance.take('b', 0), 0);
  t.not(allowance.take('a', 0), 0);
  t.equal(allowance.take('c', 0), 0);
  t.not(allowance.take('b', 0), 0);
  t.equal(allowance.take('a', 0), 0, 'it starts afresh');
  t.end();
});
