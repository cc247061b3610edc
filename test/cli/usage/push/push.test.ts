import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DAY_MS } from '../../../../src/shared/utc-day.js';
import { ADMIN_TOKEN } from '../../../gateway/admin/listener.js';
import { operator } from '../../operator.js';
import { dataFolder, petgate, surroundings, type Finished } from '../../programs.js';
import { startReceiver } from './receiver.js';
import { dayBack, stage, TODAY_MS } from './stage.js';

t.setTimeout(600_000);

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

t.test('the subject is who pays: the reference, else the customer, else the key', async (t) => {
  const { engine, registry, run, request } = await operator(t);
  const receiver = await startReceiver(t);
  const named = await registry.customers.create({ name: 'Big shop', plan: 'pro', reference: 'C-1042, "big"' }, 'x');
  const nameless = await registry.customers.create({ name: 'Small shop', plan: 'pro' }, 'x');
  const made = await Promise.all(
    [{ customer: named.id }, { customer: named.id }, { customer: nameless.id }, { plan: 'pro' }].map((of) =>
      registry.create({ ...of, name: 'x' }),
    ),
  );
  await engine.admit(made.map(({ token }) => request(token, 'listPets', 1, TODAY_MS - 2 * DAY_MS)));
  // One event a request: the next begins where the last key ended, though both pay into one.
  const { code, stderr } = await run('usage', 'push', '--to', receiver.url, '--batch', '1');
  t.equal(code, 0, stderr);
  const ids = made.map(({ record }) => record.id);
  const told = [...receiver.events.values()].map((one) => [one.id, one.subject, one.data['customer'], one.data['key']]);
  const expected = [
    ['C-1042, "big"', named.id, ids[0]],
    ['C-1042, "big"', named.id, ids[1]],
    [nameless.id, nameless.id, ids[2]],
    [ids[3], undefined, undefined],
  ].map((payer, n) => [`day=${dayBack(2)}&key=${ids[n]}&plan=pro&operation=listPets`, ...payer]);
  t.same(told.sort(), expected.sort());
  t.equal(receiver.repeats, 0);
});

t.test('waits as Retry-After says; gives up after --retry-for, and at once when refused; state survives', async (t) => {
  const { receiver, folder, push, use } = await stage(t, 3, ['--state', 'STATE']);
  await use(2, () => 1);
  const state = join(folder, 'state.json');
  let busy = 1;
  receiver.behave = () => (busy-- > 0 ? { status: 429, headers: { 'retry-after': '1' } } : 'take');
  const run = (...more: string[]): Promise<Finished> => push('--state', state, ...more);
  t.match(await run(), { code: 0, stderr: /it returned 429\. Next attempt in 1\.0 s\.\n$/ });
  const [first, second] = receiver.requests;
  t.ok(second!.atMs - first!.atMs >= 990, 'a second is a second');

  receiver.behave = () => 'refuse';
  t.match(await run('--from', dayBack(3), '--retry-for', '1s'), {
    code: 1,
    stderr: /it returned 503\. Next attempt in [^]*it returned 503.*run the same command again/,
  });
  const count = receiver.requests.length;
  receiver.behave = () => ({ status: 422 });
  t.match(await run('--from', dayBack(3)), { code: 1, stderr: /it returned 422 no/ });
  receiver.behave = () => ({ status: 307, headers: { location: 'http://127.0.0.1:1/' } });
  t.match(await run('--from', dayBack(3)), { code: 1, stderr: /it returned 307/ }, 'a redirect is not followed');
  t.equal(receiver.requests.length, count + 2);
  t.match(JSON.parse(readFileSync(state, 'utf8')), {
    doneThrough: dayBack(1 + (Date.now() - TODAY_MS < 3_600_000 ? 1 : 0)),
    running: { from: dayBack(3) },
  });
  receiver.behave = () => 'take';
  t.equal((await run('--from', dayBack(3))).code, 0);

  writeFileSync(state, '{"other":1}');
  t.match(await run(), { code: 1, stderr: /is not a state of a push/ });
});

t.test('exit code 2: wrong use, and never a secret on the command line', async (t) => {
  for (const [args, message] of [
    [['--to', 'ftp://x'], /--to must be an address/],
    [['--to', 'http://user:pass@127.0.0.1/'], /PETGATE_PUSH_TOKEN/],
    [['--to', 'http://127.0.0.1/', '--by', 'colour'], /knows plan and operation/],
    [['--to', 'http://127.0.0.1/', '--from', '2026-02-30'], /--from must be a calendar day/],
    [['--to', 'http://127.0.0.1/', '--batch', '0'], /--batch must be/],
    [['--to', 'http://127.0.0.1/', '--retry-for', 'soon'], /--retry-for must be/],
    [['--to', 'http://127.0.0.1/', '--mode', 'cumulative'], /unknown option '--mode'/],
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
