import t from 'tap';
import { collectTurn, onceATurn } from '../../../src/shared/turns/once-a-turn.js';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('what is asked for many times in a turn is done once, and again when it is asked for meanwhile', async (t) => {
  let done = 0;
  const ask: () => void = onceATurn(() => {
    done += 1;
    if (done === 1) ask();
  });
  for (let n = 0; n < 3; n += 1) ask();
  t.equal(done, 0, 'not yet in this turn');
  await nextTurn();
  t.equal(done, 1);
  await nextTurn();
  t.equal(done, 2);
  await nextTurn();
  t.equal(done, 2);
});

t.test('the items of a turn come together, in their order, and those added meanwhile in the next', async (t) => {
  const turns: (readonly number[])[] = [];
  const add = collectTurn<number>((items) => {
    turns.push(items);
    if (turns.length === 1) add(9);
  });
  for (let n = 0; n < 3; n += 1) add(n);
  t.strictSame(turns, []);
  await nextTurn();
  await nextTurn();
  t.strictSame(turns, [[0, 1, 2], [9]]);
});
