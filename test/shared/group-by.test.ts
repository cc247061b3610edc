import t from 'tap';
import { groupBy } from '../../src/shared/group-by.js';

t.test('items of the same name are together, groups and items in their order', (t) => {
  const groups = groupBy([5, 2, 8, 1, 4], (n) => (n % 2 === 0 ? 'even' : 'odd'));
  t.strictSame(
    [...groups],
    [
      ['odd', [5, 1]],
      ['even', [2, 8, 4]],
    ],
  );
  t.end();
});
