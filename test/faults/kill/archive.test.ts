import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { serialize } from 'node:v8';
import t from 'tap';
import { moveDays } from '../../../src/gateway/usage/archive/move.js';
import type { ArchiveTask } from '../../../src/gateway/usage/tasks/task.js';
import { startPostgres } from '../../servers/postgres.js';
import { startRedis } from '../../servers/redis.js';
import { ago, allRows, archiveOf, openStage, use, type Stage } from '../../gateway/usage/archive/stage.js';

t.setTimeout(600_000);
const PROGRAM = fileURLToPath(new URL('../../../src/gateway/usage/tasks/task-process.js', import.meta.url));
/** PETGATE_LONG=1 takes more. */
const KILLS = process.env['PETGATE_LONG'] === '1' ? 20 : 8;
const DAYS_AGO = Array.from({ length: 8 }, (_, n) => 41 + n * 3);

/** A process that moves days, killed at some moment of it; true when it had come to its end. */
async function moveAndKill({ settings }: Stage, afterMs: number): Promise<boolean> {
  const child = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(serialize({ kind: 'move', settings } satisfies ArchiveTask));
  const ended = once(child, 'exit') as Promise<[code: number | null]>;
  const kill = pause(afterMs).then(() => child.kill('SIGKILL'));
  const [code] = await ended;
  await kill;
  return code === 0;
}

t.test('killed at any moment of a move, again and again: at no time a report has a row less or more', async (t) => {
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  t.teardown(() => Promise.all([redis.stop(), postgres.stop()]));
  const stage = await openStage(t, redis.url, await postgres.createDatabase('ledger'));
  const { engine, settings, store } = stage;
  await use(engine, 120, [...DAYS_AGO, 1]);
  const before = await allRows(store, null);
  const archive = await archiveOf(t, settings);
  const startedMs = performance.now();
  t.equal(await moveAndKill(stage, 0), false);
  // From before it does anything to just about its end; where it is done, the next one begins anew.
  let wholeMs = 1_000;
  const kills = { whole: 0, broken: 0 };
  for (let n = 0; n < KILLS; n += 1) {
    const isDone = await moveAndKill(stage, wholeMs * (0.3 + 0.7 * Math.random()));
    kills[isDone ? 'whole' : 'broken'] += 1;
    if (isDone) wholeMs *= 0.8;
    else if ((await archive.days()).size === 0) wholeMs *= 1.3;
    const found = await allRows(store, archive);
    if (JSON.stringify(found) !== JSON.stringify(before)) t.same(found, before, `after kill ${n}`);
  }
  t.comment(
    `${JSON.stringify(kills)}, ${(await archive.days()).size} days, ${Math.round(performance.now() - startedMs)} ms`,
  );
  t.ok(kills.broken > 0);
  await moveDays(store, archive, settings.store, () => undefined);
  t.same([...(await archive.days()).keys()], [...DAYS_AGO].reverse().map(ago));
  t.same(await allRows(store, archive), before);
  for (const days of DAYS_AGO) await archive.verify(ago(days));
});
