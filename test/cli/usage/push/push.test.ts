import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ADMIN_TOKEN } from '../../../gateway/admin/listener.js';
import { until } from '../../../servers/until.js';
import { begin, dataFolder, petgate, surroundings } from '../../programs.js';
import type { Finished } from '../../programs.js';
import { dayBack, nameOf, same, stage, TODAY_MS } from './stage.js';
import type { Received } from './receiver.js';

t.setTimeout(150_000);

t.test('each event is a CloudEvent 1.0 of its form; days that are not final wait', async (t) => {
  const { receiver, push, use } = await stage(t, 2);
  await use(2, () => 3);
  await use(0, () => 2);
  const { code, stdout, stderr } = await push('--by', 'operation');
  t.equal(code, 0, stderr);
  t.match(JSON.parse(stdout), { events: 4 });
  for (const event of receiver.events.values()) {
    t.match(event, {
      specversion: '1.0',
      source: 'urn:petgate:usage',
      type: 'petgate.usage.v1',
      time: `${dayBack(2)}T00:00:00Z`,
      datacontenttype: 'application/json',
      id: `day=${dayBack(2)}&key=${event.subject}&operation=${String(event.data['operation'])}`,
      data: {
        day: dayBack(2),
        requests: event.data['operation'] === 'listPets' ? 3 : 1,
        limited: 0,
        banned: 0,
        failed: 0,
      },
    });
    t.notOk('plan' in event.data);
  }
  t.match(receiver.requests[0]?.headers, {
    'content-type': 'application/cloudevents-batch+json; charset=utf-8',
    authorization: 'Bearer push-secret',
  });
});

t.test(
  'cumulative: the latest figures hold, also of days that grow while a push is stopped in the middle',
  async (t) => {
    const { receiver, args, env, push, use, ledger } = await stage(t, 40, ['--mode', 'cumulative', '--batch', '5']);
    const latest = (): readonly Received[] => {
      const byGroup = new Map<string, Received>();
      for (const event of receiver.events.values()) {
        const name = nameOf(event.subject, event.data);
        const known = byGroup.get(name);
        if (known === undefined || Number(event.data['requests']) > Number(known.data['requests']))
          byGroup.set(name, event);
      }
      return [...byGroup.values()];
    };
    await use(1, () => 2);
    await use(0, () => 1);
    t.equal((await push()).code, 0);
    same(t, latest(), await ledger(dayBack(9), dayBack(0)), 'today included');
    const seen = receiver.events.size;
    t.equal((await push()).code, 0);
    t.equal(receiver.events.size, seen, 'unchanged figures have unchanged ids');
    await use(0, () => 1);
    const before = receiver.requests.length;
    const running = begin(t, args, env);
    await until('half of it is sent', () => receiver.requests.length > before + 4);
    running.child.kill('SIGKILL');
    await running.ended;
    await use(0, () => 1);
    t.equal((await push()).code, 0);
    same(t, latest(), await ledger(dayBack(9), dayBack(0)), 'also for keys that were done before the stop');
    t.match([...receiver.events.values()].at(-1), { type: 'petgate.usage.cumulative.v1' });
  },
);

t.test('waits as Retry-After says; gives up after --retry-for, and at once when refused; state survives', async (t) => {
  const { receiver, folder, push, use } = await stage(t, 3, ['--state', 'STATE']);
  await use(2, () => 1);
  const state = join(folder, 'state.json');
  let busy = 1;
  receiver.behave = () => (busy-- > 0 ? { status: 429, headers: { 'retry-after': '1' } } : 'take');
  const run = (...more: string[]): Promise<Finished> => push('--state', state, ...more);
  t.equal((await run()).code, 0);
  const [first, second] = receiver.requests;
  t.ok(second!.atMs - first!.atMs >= 990, 'a second is a second');

  receiver.behave = () => 'refuse';
  t.match(await run('--from', dayBack(3), '--retry-for', '1s'), {
    code: 1,
    stderr: /it answers 503.*run the same command again/,
  });
  const count = receiver.requests.length;
  receiver.behave = () => ({ status: 422 });
  t.match(await run('--from', dayBack(3)), { code: 1, stderr: /it answers 422 no/ });
  receiver.behave = () => ({ status: 307, headers: { location: 'http://127.0.0.1:1/' } });
  t.match(await run('--from', dayBack(3)), { code: 1, stderr: /it answers 307/ }, 'a redirect is not followed');
  t.equal(receiver.requests.length, count + 2);
  t.match(JSON.parse(readFileSync(state, 'utf8')), {
    doneThrough: dayBack(1 + (Date.now() - TODAY_MS < 3_600_000 ? 1 : 0)),
    running: { from: dayBack(3), after: null },
  });
  receiver.behave = () => 'take';
  t.equal((await run('--from', dayBack(3))).code, 0);

  writeFileSync(state, '{"other":1}');
  t.match(await run(), { code: 1, stderr: /holds no state of a push/ });
});

t.test('exit code 2: wrong use, and never a secret on the command line', async (t) => {
  for (const [args, message] of [
    [['--to', 'ftp://x'], /--to must be an address/],
    [['--to', 'http://user:pass@127.0.0.1/'], /PETGATE_PUSH_TOKEN/],
    [['--to', 'http://127.0.0.1/', '--by', 'colour'], /knows plan and operation/],
    [['--to', 'http://127.0.0.1/', '--from', '2026-02-30'], /--from must be a day/],
    [['--to', 'http://127.0.0.1/', '--batch', '0'], /--batch must be/],
    [['--to', 'http://127.0.0.1/', '--retry-for', 'soon'], /--retry-for must be/],
    [['--to', 'http://127.0.0.1/', '--mode', 'week'], /Allowed choices/],
  ] as const) {
    const { code, stderr } = await petgate(
      ['usage', 'push', ...args],
      surroundings(dataFolder(t), { PETGATE_ADMIN_TOKEN: ADMIN_TOKEN }),
    );
    t.equal(code, 2, args.join(' '));
    t.match(stderr, message);
    t.notMatch(stderr, 'user:pass');
  }
});
