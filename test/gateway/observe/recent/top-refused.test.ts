import t from 'tap';
import { mergeRefused, TopRefused, type RefusedCount } from '../../../../src/gateway/observe/recent/top-refused.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function refusedKey(keyId: string, status = 429, code: string | null = 'rate_limited') {
  return { keyId, address: null, status, code };
}

function note(top: TopRefused, count: number, keyId: string, atMs: number): void {
  for (let n = 0; n < count; n += 1) top.note(refusedKey(keyId), atMs);
}

t.test('few callers are counted exactly, by response, in the last five minutes and the last hour', (t) => {
  const top = new TopRefused();
  note(top, 7, 'early', 0);
  note(top, 3, 'late', 58 * MINUTE_MS);
  top.note(refusedKey('late', 502, null), 59 * MINUTE_MS);
  top.note({ keyId: null, address: '192.0.2.1', status: 401, code: 'unauthenticated' }, 59 * MINUTE_MS);
  const atMs = 59 * MINUTE_MS;
  t.strictSame(top.counts(atMs), [
    { ...refusedKey('late'), latest: 3, hour: 3 },
    { ...refusedKey('late', 502, null), latest: 1, hour: 1 },
    { keyId: null, address: '192.0.2.1', status: 401, code: 'unauthenticated', latest: 1, hour: 1 },
    { ...refusedKey('early'), latest: 0, hour: 7 },
  ]);
  t.strictSame(
    top.counts(atMs + MINUTE_MS).map(({ keyId }) => keyId),
    ['late', 'late', null],
    'after an hour a minute is forgotten',
  );
  t.strictSame(top.counts(3 * HOUR_MS), []);
  t.end();
});

t.test(
  'among any number of callers, who has more than a hundredth of a minute is found, with no count too high',
  (t) => {
    const top = new TopRefused();
    const truth = new Map<string, number>();
    let [seed, total] = [7, 0];
    const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    for (; total < 50_000; total += 1) {
      // Some that come often among thousands that come a few times.
      const keyId = random() < 0.1 ? `loud-${Math.floor(random() * 5)}` : `quiet-${Math.floor(random() * 20_000)}`;
      truth.set(keyId, (truth.get(keyId) ?? 0) + 1);
      top.note(refusedKey(keyId), 0);
    }
    const counts = new Map(top.counts(0).map(({ keyId, hour }) => [keyId!, hour]));
    for (const [keyId, hour] of counts) t.ok(hour <= truth.get(keyId)!, `${keyId}: ${hour} of ${truth.get(keyId)}`);
    for (const [keyId, count] of truth) if (count > total / 100) t.ok(counts.has(keyId), `${keyId}, ${count} times`);
    t.ok(counts.size <= 100);
    t.end();
  },
);

t.test('minutes of a clock that was hours ahead are forgotten, and count for nothing later', (t) => {
  const top = new TopRefused();
  note(top, 5, 'ahead', 9 * HOUR_MS);
  note(top, 2, 'now', HOUR_MS);
  t.match(top.counts(HOUR_MS), [{ keyId: 'now', latest: 2, hour: 2 }]);
  t.equal(top.counts(HOUR_MS).length, 1);
  t.strictSame(top.counts(9 * HOUR_MS), []);
  t.end();
});

t.test('counts of processes are added up; a clock that steps back loses none', (t) => {
  const [one, other] = [new TopRefused(), new TopRefused()];
  note(one, 2, 'a', 10 * MINUTE_MS);
  note(one, 1, 'a', 9 * MINUTE_MS);
  note(other, 4, 'a', 10 * MINUTE_MS);
  note(other, 9, 'b', 10 * MINUTE_MS);
  const both: readonly RefusedCount[] = [one, other].flatMap((top) => top.counts(10 * MINUTE_MS));
  t.strictSame(
    mergeRefused(both).map(({ keyId, hour }) => [keyId, hour]),
    [
      ['b', 9],
      ['a', 7],
    ],
  );
  t.end();
});
