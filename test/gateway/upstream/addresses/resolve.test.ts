import t from 'tap';
import type { Test } from 'tap';
import { openUpstreams, type Upstream } from '../../../../src/gateway/upstream/pools.js';
import type { UpstreamSettings } from '../../../../src/gateway/config/schema/upstream.js';
import { until } from '../../../servers/until.js';
import { startUpstream } from '../../../servers/upstream.js';
import { ended, GET, send } from '../http1/service.js';
import { NO_EVENTS, upstreamSettings } from '../settings.js';

/** A name that stands for what a test says, or for nothing. */
interface Named {
  answer: readonly string[] | Error;
  asked: number;
  readonly upstream: Upstream;
  readonly said: (string | null)[];
  /** The IP addresses in use, once it was asked again. */
  readonly inUse: () => Promise<readonly string[]>;
}

function openNamed(t: Test, port: number, answer: Named['answer'], more: Partial<UpstreamSettings> = {}): Named {
  const said: (string | null)[] = [];
  const settings = upstreamSettings({ addresses: [`http://pets.example:${port}`], resolve: 5, ...more });
  const resolveName = async (name: string): Promise<readonly string[]> => {
    t.equal(name, 'pets.example');
    named.asked += 1;
    if (named.answer instanceof Error) throw named.answer;
    return Promise.resolve(named.answer);
  };
  const named: Named = {
    answer,
    asked: 0,
    said,
    inUse: async () => {
      const before = named.asked;
      await until('it was asked again', () => named.asked > before + 1);
      return upstream.addresses.map(({ url }) => /\((.*)\)$/.exec(url)?.[1] ?? url);
    },
    get upstream() {
      return upstream;
    },
  };
  const events = {
    ...NO_EVENTS,
    unresolved: (_upstream: string, _name: string, code: string | null) => void said.push(code),
  };
  const upstream = openUpstreams({ pets: settings }, events, new Map(), resolveName).get('pets')!;
  t.teardown(() => upstream.close());
  return named;
}

const failure = (code: string): Error => Object.assign(new Error(code), { code });

const LIST = { operation: 'listPets', caller: 'one', share: 1 };

t.test('every address of a name is used, and balanced like those of the settings', async (t) => {
  const one = await startUpstream(t, { host: '127.0.0.1' });
  const port = Number(new URL(one.url).port);
  const two = await startUpstream(t, { host: '127.0.0.2', port });
  const named = openNamed(t, port, ['127.0.0.1', '127.0.0.2', '127.0.0.1']);
  t.same(await named.inUse(), ['127.0.0.1', '127.0.0.2']);
  const { upstream } = named;
  const first = upstream.pick(LIST, null)!;
  const underWay = first.underWay.add({ places: null, withdraw: () => undefined });
  const second = upstream.pick(LIST, null)!;
  t.not(first, second, 'the least loaded');
  first.underWay.remove(underWay);
  await ended(send(first.pool), send(second.pool));
  t.same([one.seen.length, two.seen.length], [1, 1]);
  t.equal(one.seen[0]?.headers.host, `pets.example:${port}`, 'Host is the name');
});

t.test('a new answer is seen, and connections to an address that is gone end behind their requests', async (t) => {
  const service = await startUpstream(t);
  const named = openNamed(t, Number(new URL(service.url).port), ['127.0.0.1']);
  await named.inUse();
  const [address] = named.upstream.addresses;
  await ended(send(address!.pool));
  t.equal(address!.pool.stats.connected, 1);
  const held: (() => void)[] = [];
  service.handle = (_seen, response) => void held.push(() => response.end('[]'));
  const sent = send(address!.pool, GET);
  await until('it is there', () => held.length === 1);
  named.answer = ['127.0.0.3'];
  t.same(await named.inUse(), ['127.0.0.3']);
  t.equal(named.upstream.pick(LIST, address!)?.url.includes('127.0.0.3'), true);
  t.equal(sent.end, null, 'it is under way');
  held[0]!();
  t.same((await ended(sent))[0], ['ended', 200, '[]']);
  await until('its connection is closed', () => address!.pool.stats.connected === 0);
});

t.test('attempts that wait at an address that is gone are sent elsewhere', async (t) => {
  const named = openNamed(t, 1, ['127.0.0.1']);
  await named.inUse();
  let withdrawn = 0;
  named.upstream.addresses[0]!.underWay.add({ places: null, withdraw: () => (withdrawn += 1) });
  named.answer = ['127.0.0.2'];
  await named.inUse();
  t.equal(withdrawn, 1);
});

t.test('while a name can’t be resolved, or is said to stand for nothing, the addresses before stay', async (t) => {
  const named = openNamed(t, 1, failure('ENOTFOUND'));
  t.same(await named.inUse(), ['http://pets.example:1'], 'before the first answer the name itself');
  named.answer = ['127.0.0.1', '127.0.0.2'];
  t.same(await named.inUse(), ['127.0.0.1', '127.0.0.2']);
  const [kept] = named.upstream.addresses;
  named.answer = failure('EAI_AGAIN');
  t.same(await named.inUse(), ['127.0.0.1', '127.0.0.2']);
  named.answer = [];
  t.same(await named.inUse(), ['127.0.0.1', '127.0.0.2']);
  named.answer = ['127.0.0.2', '127.0.0.1'];
  t.same(await named.inUse(), ['127.0.0.1', '127.0.0.2']);
  t.equal(named.upstream.addresses[0], kept, 'with all that is known of it');
  t.same(named.said, ['ENOTFOUND', null, 'EAI_AGAIN', 'ENODATA', null], 'and each change is told once');
});

t.test('a name has so many addresses and no more', async (t) => {
  const named = openNamed(
    t,
    1,
    Array.from({ length: 300 }, (_, n) => `10.0.${n >> 8}.${n & 255}`),
  );
  t.equal((await named.inUse()).length, 64);
});

t.test('a family that can’t be reached is left out while the other can', async (t) => {
  const both = ['127.0.0.1', '127.0.0.2', '2001:db8::1'];
  const named = openNamed(t, 1, both);
  t.same(await named.inUse(), both);
  const reached = (ip: string, is: boolean): void => {
    for (const address of named.upstream.addresses) if (address.url.includes(`(${ip})`)) address.reached = is;
  };
  reached('2001:db8::1', false);
  reached('127.0.0.2', false);
  t.same(await named.inUse(), both, 'nothing is known of the other');
  reached('127.0.0.1', true);
  t.same(await named.inUse(), both.slice(0, 2));
  t.same(await named.inUse(), both.slice(0, 2), 'and it stays out');
  reached('127.0.0.1', false);
  t.same(await named.inUse(), both, 'until the other can’t be reached either');
  t.same(await named.inUse(), both, 'and it is not lost for that');
});

t.test('once it is closed nobody asks', async (t) => {
  const named = openNamed(t, 1, ['127.0.0.1']);
  await named.inUse();
  await named.upstream.retire();
  const { asked } = named;
  await new Promise((resolve) => setTimeout(resolve, 30));
  t.ok(named.asked <= asked + 1, 'but for one that was under way');
});
