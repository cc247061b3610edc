import t from 'tap';
import { GATEWAY_DAYS } from '../../../src/gateway/store/redis/keyspace/names.js';
import { DAY_MS, HOUR_MS, startStage } from '../outage/final-stage.js';
import { bringHome, pushFrom, reportOf, sameSums } from '../outage/late.js';
import { day } from '../../e2e/ledger.js';
import { killPush } from './killed-push.js';

/** Each takes half a dozen starts of programs. PETGATE_LONG=1 takes more. */
const KILLS = process.env['PETGATE_LONG'] === '1' ? 16 : 6;

t.test(`counts come late and the push is killed at ${KILLS} points: the meter has what the ledger has`, async (t) => {
  const stage = await startStage(t, '3h');
  const { redis, near, overMs } = stage;
  const keys = await Promise.all(Array.from({ length: 40 }, () => near.createKey({ plan: 'pro' })));
  const { receiver, args, env, run } = await pushFrom(t, stage, '--batch', '7');
  let total = 3;
  const grow = async (round: number): Promise<void> => {
    const counts = keys.flatMap(({ id }, n) =>
      n % 3 === round % 3
        ? [{ keyId: id, requests: 1 + (n % 4), operation: n % 2 === 0 ? 'listPets' : 'createPet' }]
        : [],
    );
    total += counts.reduce((sum, { requests }) => sum + requests, 0);
    await bringHome(stage, counts, total);
  };
  await bringHome(stage, [], total);
  await grow(0);
  // Another gateway, gone for good: the day stays marked while counts of the first come.
  await redis.command(
    'HSET',
    GATEWAY_DAYS,
    'gone',
    `${Math.floor(overMs / DAY_MS)}|${Date.now() - 4 * HOUR_MS}|told|gone.example`,
  );
  let kills = 0;
  for (let round = 0; kills < KILLS; round += 1) {
    if (round % 5 === 4) await grow(round);
    if (await killPush(t, { receiver, args, env })) kills += 1;
    else await grow(round);
  }
  await run();
  sameSums(t, receiver.events.values(), await reportOf(stage), 'while the day is marked');
  await grow(1);
  await redis.command('HDEL', GATEWAY_DAYS, 'gone');
  t.match(await run(), { corrected: [day(overMs)] });
  sameSums(t, receiver.events.values(), await reportOf(stage), 'when the mark is gone');
  for (let n = 0; n < 2; n += 1) t.match(await run(), { events: 0, corrected: [] }, 'nothing more comes');
  await run('--from', day(overMs), '--to-day', day(overMs));
  t.equal(receiver.contradictions, 0, 'the same id is always the same event');
  const revised = [...receiver.events.keys()].filter((id) => /&rev=\d+$/.test(id)).length;
  t.ok(revised > 0, 'some groups were corrected');
  t.comment(
    `${kills} kills, ${receiver.requests.length} requests, ${receiver.events.size} events of which ${revised} ` +
      `corrections, ${receiver.repeats} repeats`,
  );
});
