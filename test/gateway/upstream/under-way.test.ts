import t from 'tap';
import fc from 'fast-check';
import { UnderWay } from '../../../src/gateway/upstream/under-way.js';

t.test('whatever is added and removed in whatever order, all that is left is withdrawn, and each once', (t) => {
  fc.assert(fc.property(fc.array(fc.nat({ max: 1000 }), { maxLength: 200 }), (moves) => {
    const underWay = new UnderWay();
    const left: { name: number; place: ReturnType<UnderWay['add']> }[] = [];
    const withdrawn: number[] = [];
    for (const [name, move] of moves.entries()) {
      if (move % 2 === 0 || left.length === 0) left.push({ name, place: underWay.add({ withdraw: () => withdrawn.push(name) }) });
      else underWay.remove(left.splice(move % left.length, 1)[0]!.place);
      if (underWay.size !== left.length) return false;
    }
    underWay.withdrawAll();
    return JSON.stringify(withdrawn.sort((one, other) => one - other)) === JSON.stringify(left.map(({ name }) => name));
  }));
  t.end();
});

t.test('one that is removed, or comes anew, while all are withdrawn disturbs no other', (t) => {
  const underWay = new UnderWay();
  const withdrawn: string[] = [];
  for (const name of ['first', 'second', 'third']) {
    const place = underWay.add({
      withdraw: () => {
        withdrawn.push(name);
        underWay.remove(place);
        underWay.add({ withdraw: () => withdrawn.push(`${name} again`) });
      },
    });
  }
  underWay.withdrawAll();
  t.strictSame(withdrawn, ['first', 'second', 'third']);
  t.equal(underWay.size, 3);
  t.end();
});
