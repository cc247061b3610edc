import t from 'tap';
import type { Test } from 'tap';
import { begin, dataFolder, eventually, surroundings } from '../../cli/programs.js';
import { childrenOf, isAlive, ready, startBoth } from '../../cli/start/ready.js';

const hasProc = process.platform === 'linux';

t.test('kill -9 of the supervisor leaves nothing behind', { skip: !hasProc }, async (t: Test) => {
  const { running, pids } = await startBoth(t);
  running.child.kill('SIGKILL');
  t.equal(await running.ended, 'SIGKILL');
  await eventually('both programs leave', () => !pids.some(isAlive));
});

t.test('a program that is killed is started again, and said to be', { skip: !hasProc }, async (t: Test) => {
  const running = begin(t, ['start'], surroundings(dataFolder(t)));
  const urls = await ready(running);
  for (const name of ['pets', 'gateway']) {
    const pid = childrenOf(running).get(name)!;
    process.kill(pid, 'SIGKILL');
    const next = await eventually(`${name} again`, () => {
      const now = childrenOf(running).get(name);
      return now !== pid && now;
    });
    t.ok(isAlive(next));
    t.match(running.output(), `${name} ended by itself (signal SIGKILL)`);
  }
  const reply = await untilAnswered(`${urls.get('gateway')!}/openapi.json`);
  t.equal(reply.status, 200);
  running.child.kill('SIGINT');
  t.equal(await running.ended, 0);
});

t.test('petgate start whose output nobody reads any more runs on', { skip: !hasProc }, async (t: Test) => {
  const running = begin(t, ['start'], surroundings(dataFolder(t)));
  const urls = await ready(running);
  running.child.stdout!.destroy();
  const pid = childrenOf(running).get('gateway')!;
  process.kill(pid, 'SIGKILL');
  await eventually('it is started again, and that is said to nobody', () => {
    const now = childrenOf(running).get('gateway');
    return now !== pid && now;
  });
  t.equal((await untilAnswered(`${urls.get('gateway')!}/openapi.json`)).status, 200);
  running.child.kill('SIGINT');
  t.equal(await running.ended, 0);
});

async function untilAnswered(url: string): Promise<Response> {
  const deadlineMs = Date.now() + 20_000;
  for (;;) {
    try {
      return await fetch(url);
    } catch (error) {
      if (Date.now() > deadlineMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
