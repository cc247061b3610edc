import t from 'tap';
import fc from 'fast-check';
import { Bag, type BagEntry } from '../../src/shared/bag.js';

t.test('whatever is added and removed in whatever order, what is left is in it, and each once', (t) => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 1000 }), { maxLength: 200 }), (moves) => {
      const bag = new Bag<number>();
      const left: BagEntry<number>[] = [];
      for (const [name, move] of moves.entries()) {
        if (move % 2 === 0 || left.length === 0) left.push(bag.add(name));
        else bag.remove(left.splice(move % left.length, 1)[0]!);
        if (bag.size !== left.length) return false;
      }
      const sorted = (items: readonly number[]): string => [...items].sort((one, other) => one - other).join();
      return sorted(bag.items()) === sorted(left.map(({ item }) => item));
    }),
  );
  t.end();
});

t.test('what comes or goes while all are looked at disturbs no other', (t) => {
  const bag = new Bag<string>();
  const entries = new Map(['first', 'second', 'third'].map((name) => [name, bag.add(name)]));
  const seen: string[] = [];
  for (const name of bag.items()) {
    seen.push(name);
    bag.remove(entries.get(name)!);
    bag.add(`${name} again`);
  }
  t.strictSame(seen, ['first', 'second', 'third']);
  t.equal(bag.size, 3);
  t.end();
});
