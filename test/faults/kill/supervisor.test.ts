import t from 'tap';
import type { Test } from 'tap';
import { begin, dataFolder, surroundings } from '../../cli/programs.js';
import { childrenOf, isAlive, ready, startBoth } from '../../cli/start/ready.js';
import { until } from '../../servers/until.js';

const hasProc = process.platform === 'linux';

t.test('kill -9 of the supervisor leaves nothing behind', { skip: !hasProc }, async (t: Test) => {
  const { running, pids } = await startBoth(t);
  running.child.kill('SIGKILL');
  t.equal(await running.ended, 'SIGKILL');
  await until('both programs leave', () => !pids.some(isAlive));
});

t.test('a program that is killed is started again, and said to be', { skip: !hasProc }, async (t: Test) => {
  const running = begin(t, ['start'], surroundings(dataFolder(t)));
  const urls = await ready(running);
  for (const name of ['pets', 'gateway']) {
    const pid = childrenOf(running).get(name)!;
    process.kill(pid, 'SIGKILL');
    await until(`${name} again`, () => ![undefined, pid].includes(childrenOf(running).get(name)));
    t.ok(isAlive(childrenOf(running).get(name)!));
    t.match(running.output(), `${name} ended by itself (signal SIGKILL)`);
  }
  await untilAnswered(urls);
  running.child.kill('SIGINT');
  t.equal(await running.ended, 0);
});

t.test('petgate start whose output nobody reads any more runs on', { skip: !hasProc }, async (t: Test) => {
  const running = begin(t, ['start'], surroundings(dataFolder(t)));
  const urls = await ready(running);
  running.child.stdout!.destroy();
  const pid = childrenOf(running).get('gateway')!;
  process.kill(pid, 'SIGKILL');
  await until('it is started again, and that is said to nobody', () => {
    return ![undefined, pid].includes(childrenOf(running).get('gateway'));
  });
  await untilAnswered(urls);
  running.child.kill('SIGINT');
  t.equal(await running.ended, 0);
});

function untilAnswered(urls: ReadonlyMap<string, string>): Promise<void> {
  return until('it answers', async () => (await fetch(`${urls.get('gateway')!}/openapi.json`)).status === 200);
}
