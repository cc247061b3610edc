import t from 'tap';
import type { Test } from 'tap';
import { openRedisEngine } from '../../../src/gateway/store/redis/engine.js';
import { custom, dayName, newKey, PLANS, rowsOf } from '../../conformance/cast.js';
import { startSentinel, type RedisServer } from '../../servers/redis.js';
import { until } from '../../servers/until.js';
import { follows, pauseWrites } from '../replication.js';

const ASKERS = 4;
const SOME = 300;

/** How many admissions that were answered a planned failover under load takes from the ledger. */
async function lostBy(t: Test, prepare: (master: RedisServer) => Promise<void>): Promise<number> {
  const sentinel = await startSentinel();
  const engine = openRedisEngine({ url: sentinel.url, deadlineMs: 450, plans: PLANS, usageDays: 400 });
  let isOver = false;
  t.teardown(() => {
    isOver = true;
    return engine.close().then(() => sentinel.stop());
  });
  await until('the engine decides', async () => (await engine.check(), true));
  const key = await newKey(engine, 'enterprise', custom('unlimited', 'unlimited'));
  const request = { subject: key.subject, operation: 'listPets', scope: null, cost: 1 };
  let [admitted, unanswered] = [0, 0];
  const asking = Array.from({ length: ASKERS }, async () => {
    while (!isOver) {
      const verdicts = await engine.admit([request]).catch(() => null);
      if (verdicts?.[0]?.outcome === 'admitted') admitted += 1;
      else unanswered += 1;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  });
  const some = async (): Promise<void> => {
    const before = admitted;
    await until('requests are admitted', () => admitted > before + SOME);
  };
  await some();
  const old = await sentinel.master();
  await prepare(old);
  const beganMs = performance.now();
  await sentinel.switchOver();
  await some();
  const awayMs = Math.round(performance.now() - beganMs);
  isOver = true;
  await Promise.all(asking);
  await follows(old);
  const rows = await rowsOf(engine, dayName(Date.now() - 86_400_000), dayName(Date.now()), key.id);
  const lost = admitted - rows.reduce((sum, { requests }) => sum + requests, 0);
  t.comment(JSON.stringify({ admitted, unanswered, lost, awayMs }));
  return lost;
}

t.test('a planned failover loses no answered admission where writes are paused before it', async (t) => {
  t.ok((await lostBy(t, pauseWrites)) <= 0);
});
