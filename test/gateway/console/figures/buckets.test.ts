import t from 'tap';
import { bucketsOf, countOf, quantileOf, sumOf } from '../../../../src/gateway/console/figures/buckets.js';

const BOUNDS = [0.01, 0.1, 1, Infinity];

/** As Prometheus' text has them: each bucket counts all below its bound. */
function cumulative(values: readonly number[]): ReadonlyMap<string, number> {
  return new Map(
    BOUNDS.map((bound) => [
      bound === Infinity ? '+Inf' : String(bound),
      values.filter((value) => value <= bound).length,
    ]),
  );
}

const boundOf = (value: number): number => BOUNDS.find((bound) => value <= bound)!;

t.test('a quantile is the bound above the value that sorting finds, for any values and in any pieces', (t) => {
  let seed = 11;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let round = 0; round < 200; round += 1) {
    const values = Array.from({ length: 1 + Math.floor(random() * 50) }, () => 10 ** (random() * 4 - 3));
    const before = values.slice(0, Math.floor(random() * values.length));
    const whole = bucketsOf(new Map(), cumulative(values));
    const pieces = sumOf(bucketsOf(new Map(), cumulative(before)), bucketsOf(cumulative(before), cumulative(values)));
    t.strictSame(pieces, whole);
    t.equal(countOf(whole), values.length);
    const sorted = values.toSorted((one, other) => one - other);
    for (const share of [0.5, 0.99, 1]) {
      const exact = sorted[Math.ceil(share * values.length) - 1]!;
      if (quantileOf(whole, share) !== boundOf(exact)) t.fail(`${share} of ${sorted.join()}`);
    }
  }
  t.equal(quantileOf([], 0.5), null);
  t.equal(quantileOf(bucketsOf(cumulative([1]), cumulative([1])), 0.5), null, 'nothing in this time');
  t.strictSame(
    sumOf([[1, 2]], [[0.5, 1]]),
    [
      [0.5, 1],
      [1, 2],
    ],
    'bounds of another version',
  );
  t.end();
});
