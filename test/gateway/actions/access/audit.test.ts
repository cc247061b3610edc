import t from 'tap';
import { Audit } from '../../../../src/gateway/actions/access/audit.js';
import { redisEngineFor } from '../../../conformance/redis-engine.js';
import { temporaryFolder } from '../../../servers/program.js';
import { until } from '../../../servers/until.js';

const CHANGE = { action: 'Create a key', kind: 'key', id: 'abc', status: 201 } as const;

t.test('every gateway on a store has the changes of all, each once, also of those that are gone', async (t) => {
  const { redis, engine } = await redisEngineFor(t, { deadlineMs: 1_000 });
  const folder = temporaryFolder(t);
  const [one, other] = [new Audit(folder, engine.fleet.notes('one')), new Audit(null, engine.fleet.notes('other'))];
  one.changed({ ...CHANGE, actor: 'ann' });
  const actorsOf = async (audit: Audit, search = ''): Promise<readonly string[]> =>
    (await audit.changes(search, 10)).map(({ actor }) => actor);
  await until('the other has it', async () => (await actorsOf(other)).length === 1);
  other.changed({ ...CHANGE, actor: 'bob' });
  other.changed({ ...CHANGE, actor: 'cid' });
  await until('the first has them', async () => (await actorsOf(one)).length === 3);
  t.strictSame(await actorsOf(other, 'bob'), ['bob']);
  const restarted = new Audit(folder, engine.fleet.notes('one, started again'));
  restarted.changed({ ...CHANGE, actor: 'dan' });
  await until('the other has what came after', async () => (await actorsOf(other)).includes('dan'));
  for (const audit of [one, other, restarted])
    t.strictSame((await actorsOf(audit)).toSorted(), ['ann', 'bob', 'cid', 'dan']);
  await redis.stop();
  t.strictSame(await actorsOf(restarted), ['dan', 'ann'], 'without the store its own');
});

t.test('what another gateway reads of a day is bounded, and the latest', async (t) => {
  const { engine } = await redisEngineFor(t);
  const [one, other] = [new Audit(null, engine.fleet.notes('one')), new Audit(null, engine.fleet.notes('other'))];
  for (let n = 0; n < 300; n += 1) one.changed({ ...CHANGE, actor: `a${n}` });
  await until('the last one is there', async () => (await other.changes('a299', 1)).length === 1);
  t.equal((await other.changes('', 1_000)).length, 200);
  t.equal((await one.changes('', 1_000)).length, 300);
});
