import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import type { Test } from 'tap';
import { begin, dataFolder, petgate, surroundings } from '../cli/programs.js';
import type { Finished } from '../cli/programs.js';
import { startReceiver } from '../cli/usage/push/receiver.js';
import type { Received, Receiver } from '../cli/usage/push/receiver.js';
import { GATEWAY_DAYS } from '../../src/gateway/admission/engines/redis/names.js';
import { ADMIN_TOKEN } from '../servers/gateway.js';
import { until } from '../servers/until.js';
import { cutOff, DAY_MS, HOUR_MS, lastTold, startStage } from './final-stage.js';
import type { Counted, Stage } from './final-stage.js';
import { day } from './ledger.js';

t.setTimeout(240_000);

const KILLS = 16;

interface Row {
  readonly key: string;
  readonly operation: string;
  readonly requests: number;
}

interface Report {
  readonly final: boolean;
  readonly without: readonly unknown[];
  readonly rows: readonly Row[];
  readonly totals: { readonly requests: number };
}

async function reportOf({ near, overMs }: Stage): Promise<Report> {
  return (await near.admin('GET', `/admin/v1/usage?from=${day(overMs)}&to=${day(overMs)}&by=key,day,operation`)).body as Report;
}

/** What a meter adds up that takes each event once, and the ledger: by key and operation. */
function sameSums(t: Test, events: Iterable<Received>, { rows }: Report, what: string): void {
  const sums = new Map<string, number>();
  for (const { subject, data } of events) {
    const group = `${subject} ${String(data['operation'])}`;
    sums.set(group, (sums.get(group) ?? 0) + Number(data['requests']));
  }
  t.same([...sums].sort(), rows.map(({ key, operation, requests }) => [`${key} ${operation}`, requests]).sort(), what);
}

interface Push {
  readonly receiver: Receiver;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly run: (...more: string[]) => Promise<{ readonly events: number; readonly corrected: readonly string[] }>;
}

async function pushFrom(t: Test, { near }: Stage, ...more: readonly string[]): Promise<Push> {
  const receiver = await startReceiver(t);
  const env = surroundings(dataFolder(t), { ADMIN_PORT: new URL(near.adminUrl).port, PETGATE_ADMIN_TOKEN: ADMIN_TOKEN });
  const args = ['usage', 'push', '--to', receiver.url, '--by', 'operation', '--json', ...more];
  const run: Push['run'] = async (...options) => {
    const { code, stdout, stderr }: Finished = await petgate([...args, ...options], env);
    if (code !== 0) throw new Error(`push ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as Awaited<ReturnType<Push['run']>>;
  };
  return { receiver, args, env, run };
}

/** Brings home what `counts` add; `total` is what the ledger then has of the day. */
async function bringHome(stage: Stage, counts: readonly Counted[], total: number): Promise<void> {
  if (counts.length > 0) await cutOff(stage, counts);
  stage.proxy.set('pass');
  await until(`the ledger has ${total}`, async () => {
    const { final, totals } = await reportOf(stage);
    return final && totals.requests === total;
  });
}

t.test('what comes of a day after it was pushed without a gateway is pushed as a difference', async (t) => {
  const stage = await startStage(t, '3h');
  const { keyId, overMs } = stage;
  const { receiver, run } = await pushFrom(t, stage);
  await bringHome(stage, [], 3);
  await cutOff(stage, [{ keyId, requests: 4 }, { keyId, requests: 2, operation: 'createPet' }]);
  await lastTold(stage, 4 * HOUR_MS);
  t.match(await reportOf(stage), { final: true, without: [{ gateway: stage.cutId }] });
  t.match(await run(), { events: 1, corrected: [] });
  t.match(await run(), { events: 0, corrected: [] }, 'nothing came meanwhile');
  sameSums(t, receiver.events.values(), await reportOf(stage), 'before it is back');

  await bringHome(stage, [], 9);
  t.match(await run(), { events: 2, corrected: [day(overMs)] });
  sameSums(t, receiver.events.values(), await reportOf(stage), 'after it is back');
  const group = `day=${day(overMs)}&key=${keyId}&operation=`;
  const requestsById = new Map([...receiver.events.values()].map(({ id, data }) => [id, data['requests']]));
  t.same(requestsById, new Map([[`${group}listPets`, 3], [`${group}createPet`, 2], [`${group}listPets&rev=2`, 4]]));
  for (let n = 0; n < 2; n += 1) t.match(await run(), { events: 0, corrected: [] }, 'all is there');

  t.match(await run('--from', day(overMs), '--to-day', day(overMs)), { events: 3 }, 'asked for once more');
  t.equal(receiver.contradictions, 0, 'the same ids say the same');
  t.equal(receiver.events.size, 3);
});

t.test(`counts come late and the push is killed at ${KILLS} points: the meter has what the ledger has`, async (t) => {
  const stage = await startStage(t, '3h');
  const { redis, near, overMs } = stage;
  const keys = await Promise.all(Array.from({ length: 40 }, () => near.createKey({ plan: 'pro' })));
  const { receiver, args, env, run } = await pushFrom(t, stage, '--batch', '7');
  let total = 3;
  const grow = async (round: number): Promise<void> => {
    const counts = keys.flatMap(({ id }, n) => (n % 3 === round % 3 ? [{ keyId: id, requests: 1 + (n % 4), operation: n % 2 === 0 ? 'listPets' : 'createPet' }] : []));
    total += counts.reduce((sum, { requests }) => sum + requests, 0);
    await bringHome(stage, counts, total);
  };
  await bringHome(stage, [], total);
  await grow(0);
  // Another gateway, gone for good: the day stays marked while counts of the first come.
  await redis.command('HSET', GATEWAY_DAYS, 'gone', `${Math.floor(overMs / DAY_MS)}|${Date.now() - 4 * HOUR_MS}|told|gone.example`);
  let kills = 0;
  for (let round = 0; kills < KILLS; round += 1) {
    if (round % 5 === 4) await grow(round);
    const before = receiver.requests.length;
    const running = begin(t, [...args], env);
    const after = Math.floor(Math.random() * 4);
    let isOver = false;
    void running.ended.then(() => (isOver = true));
    await until('some batches were sent', () => receiver.requests.length >= before + after || isOver);
    await pause(after === 0 ? Math.random() * 600 : Math.random() * 8);
    running.child.kill('SIGKILL');
    if ((await running.ended) === 'SIGKILL') kills += 1;
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
  t.comment(`${kills} kills, ${receiver.requests.length} requests, ${receiver.events.size} events of which ${revised} corrections, ${receiver.repeats} repeats`);
});

t.test('in cumulative mode a day without a gateway is sent anew until it is back', async (t) => {
  const stage = await startStage(t, '3h');
  const { keyId, overMs } = stage;
  const { receiver, run } = await pushFrom(t, stage, '--mode', 'cumulative');
  const latest = (): number => Math.max(...[...receiver.events.values()].filter(({ subject, data }) => subject === keyId && data['day'] === day(overMs)).map(({ data }) => Number(data['requests'])));
  await bringHome(stage, [], 3);
  await cutOff(stage, [{ keyId, requests: 4 }]);
  await lastTold(stage, 4 * HOUR_MS);
  await run();
  t.equal(latest(), 3);
  await bringHome(stage, [], 7);
  await run();
  t.equal(latest(), 7);
  const seen = receiver.events.size;
  await run();
  t.equal(receiver.events.size, seen);
});
