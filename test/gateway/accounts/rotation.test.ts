import t from 'tap';
import { makeToken, parseToken } from '../../../src/gateway/accounts/token.js';
import { keyRecord } from '../admission/key-record.js';
import { free, judge, linesOf, openRegistry, openStore, refusal } from './store.js';

t.test('a rotation keeps the older secrets good until their overlap is over, two of them at most', async (t) => {
  const { engine } = openStore(t);
  const nowMs = Date.now();
  const registry = openRegistry(engine, { clock: () => Promise.resolve(nowMs) });
  const { id, token: first } = await free(registry);
  const judged = (tokens: readonly string[], laterMs = 0): Promise<readonly string[]> =>
    Promise.all(tokens.map((token) => judge(engine, token, nowMs + laterMs)));
  const { token: second, record } = await registry.rotate(id, 60_000);
  t.equal(record.id, id);
  t.same(await judged([first, second], 59_999), ['admitted', 'admitted']);
  t.same(await judged([first, second], 60_000), ['expired', 'admitted']);
  const { token: third } = await registry.rotate(id, 60_000);
  t.same(
    await judged([first, second, third]),
    ['admitted', 'admitted', 'admitted'],
    'whoever did not get the second one rotates again, and clients go on with the first',
  );
  t.same(await judged([first], 60_000), ['expired'], 'no longer than they were told');
  const { token: fourth } = await registry.rotate(id, 60_000);
  t.same(await judged([first, second, third]), ['unknown', 'admitted', 'admitted']);
  const { token: fifth } = await registry.rotate(id, 0);
  t.same(await judged([third, fourth, fifth]), ['unknown', 'unknown', 'admitted'], 'no overlap: at once');
  for (const badMs of [-1, 1.5, Number.NaN, 91 * 86_400_000])
    t.equal((await refusal(registry.rotate(id, badMs))).kind, 'invalid');
});

t.test('a rotation never gives a secret a later end than it had, and never leaves more than one without', async (t) => {
  const { engine } = openStore(t);
  const nowMs = Date.now();
  const registry = openRegistry(engine, { clock: () => Promise.resolve(nowMs) });
  const inDays = (days: number): number => nowMs + days * 86_400_000;
  const ending = (days: number): { oldSecretEnds: string } => ({
    oldSecretEnds: new Date(inDays(days)).toISOString(),
  });
  const cases: readonly (readonly [
    before: readonly (number | null)[],
    overlapDays: number,
    after: readonly number[],
    changed: Readonly<Record<string, unknown>>,
  ])[] = [
    [[inDays(30)], 1, [inDays(1)], ending(1)],
    [[inDays(0.5)], 1, [inDays(0.5)], ending(0.5)],
    [[null, null], 1, [inDays(1), inDays(1)], ending(1)],
    [[null, inDays(0.5), null], 1, [inDays(1), inDays(1)], { ...ending(1), othersEndedAtOnce: 1 }],
    [[inDays(0.5), null], 1, [inDays(1), inDays(0.5)], ending(1)],
    [[null, null], 0, [], { ...ending(0), othersEndedAtOnce: 1 }],
    [[inDays(-1)], 1, [], { oldSecretEnds: null }],
    [[inDays(-1), null], 1, [inDays(1)], ending(1)],
  ];
  for (const [ends, overlapDays, after, changed] of cases) {
    const title = JSON.stringify([ends, overlapDays]);
    const { id } = makeToken('staging');
    const secrets = ends.map((endsAtMs, place) => ({ hash: `secret ${place}`, endsAtMs }));
    await engine.keys.write(keyRecord(id, { secrets }), { atMs: 0, action: 'imported', changed: {} });
    const { record } = await registry.rotate(id, overlapDays * 86_400_000);
    t.same(
      record.secrets.map(({ endsAtMs }) => endsAtMs),
      [null, ...after],
      title,
    );
    t.same((await registry.history(id)).at(-1)?.changed, changed, title);
  }
});

t.test('of imported secrets without an end two stay good for the overlap', async (t) => {
  const { engine } = openStore(t);
  const nowMs = Date.now();
  const registry = openRegistry(engine, { clock: () => Promise.resolve(nowMs) });
  const [newest, older] = [makeToken('staging'), makeToken('staging')];
  const body = { id: newest.id, plan: 'free', name: 'two', hashes: [newest.secretHash, older.secretHash] };
  await registry.import(linesOf([body]));
  const { token: made } = await registry.rotate(newest.id, 60_000);
  const judged = (secretHash: string, atMs: number) =>
    engine.admit([
      { subject: { kind: 'key', id: newest.id, secretHash }, operation: 'listPets', scope: null, cost: 1, nowMs: atMs },
    ]);
  t.match(await judged(newest.secretHash, nowMs + 59_999), [{ outcome: 'admitted' }]);
  t.match(await judged(newest.secretHash, nowMs + 60_000), [{ reason: 'expired' }]);
  t.match(await judged(older.secretHash, nowMs + 59_999), [{ outcome: 'admitted' }]);
  t.match(await judged(older.secretHash, nowMs + 60_000), [{ reason: 'expired' }]);
  t.match(await judged(parseToken(made, 'staging', false)!.secretHash, nowMs + 60_000), [{ outcome: 'admitted' }]);
});
