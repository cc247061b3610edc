import t from 'tap';
import type { Address } from '../../../src/gateway/upstream/addresses/address.js';
import type { BreakerSettings } from '../../../src/gateway/config/schema/upstream.js';
import { openUpstreams, type Upstream } from '../../../src/gateway/upstream/pools.js';
import { NO_EVENTS, upstreamSettings } from './settings.js';

const BREAKER = { failures: 1, open: 60_000, cap: 60_000 };

const LIST = { operation: 'listPets', caller: 'one', share: 1 };

function open(addresses: readonly string[], connections = 2, breaker: BreakerSettings = BREAKER): Upstream {
  const more = { connections, connect: 100, deadline: 100, breaker };
  const pets = upstreamSettings({ addresses, ...more });
  const upstreams = openUpstreams({ pets, store: { ...pets, addresses: [] } }, NO_EVENTS);
  t.same([...upstreams.keys()], ['pets'], 'one without addresses is not there');
  const upstream = upstreams.get('pets')!;
  t.teardown(() => upstream.close());
  return upstream;
}

/** So many attempts are under way there. */
function load({ underWay }: Address, count: number): void {
  while (underWay.size < count) underWay.add({ places: null, withdraw: () => undefined });
}

function openBreaker({ breaker }: Address): void {
  breaker.ended(breaker.send('one', performance.now()), 'lost', 'one', performance.now());
}

t.test('the least loaded address is picked', (t) => {
  const upstream = open(['http://127.0.0.1:1', 'http://127.0.0.1:2']);
  const [one, two] = upstream.addresses;
  t.equal(upstream.pick(LIST, null), one);
  load(one!, 1);
  t.equal(upstream.pick(LIST, null), two);
  t.equal(upstream.pick(LIST, two!), one, 'but not the one that just failed');
  const single = open(['http://127.0.0.1:1']);
  t.equal(single.pick(LIST, single.addresses[0]!), single.addresses[0], 'unless there is no other');
  t.end();
});

t.test('one whose breaker is open is passed over, also by a second attempt', (t) => {
  const upstream = open(['http://127.0.0.1:1', 'unix:/run/pets.sock']);
  const [one, two] = upstream.addresses;
  openBreaker(one!);
  load(two!, 5);
  t.equal(upstream.pick(LIST, null), two);
  t.equal(upstream.pick(LIST, two!), two, 'the same again is better than one that is open');
  t.equal(upstream.waitMs(LIST), null, 'another is there');
  openBreaker(two!);
  t.equal(upstream.pick(LIST, null), null);
  const waitMs = upstream.waitMs(LIST) ?? 0;
  t.ok(waitMs > 59_000 && waitMs <= 60_000, `the next trial is in ${waitMs} ms`);
  t.end();
});

t.test(
  'a trial goes first, and however many hang there, but never to an unhealthy address while a healthy one is there',
  (t) => {
    const upstream = open(['http://127.0.0.1:1', 'http://127.0.0.1:2'], 2, { failures: 1, open: 0, cap: 60_000 });
    const [one, two] = upstream.addresses;
    openBreaker(one!);
    load(one!, 10);
    load(two!, 9);
    one!.healthy = false;
    t.equal(upstream.pick(LIST, null), two);
    one!.healthy = true;
    t.equal(upstream.pick(LIST, null), one);
    two!.healthy = false;
    openBreaker(two!);
    t.equal(upstream.pick(LIST, null), one);
    one!.healthy = false;
    t.equal(upstream.pick(LIST, null), two, 'when no one is healthy, all are tried');
    t.equal(upstream.waitMs(LIST), 0);
    t.end();
  },
);

t.test('a full address takes no more, but for one that had a place', async (t) => {
  const upstream = open(['http://127.0.0.1:1', 'http://127.0.0.1:2'], 2);
  const [one, two] = upstream.addresses;
  load(one!, 10);
  load(two!, 9);
  const last = two!.underWay.add({ places: null, withdraw: () => undefined });
  t.equal(upstream.reserve(LIST), null);
  t.equal(upstream.pick(LIST, one!), null, 'nor a second attempt');
  t.not(upstream.pick(LIST, null), null);
  t.equal(upstream.waitMs(LIST), null, 'that is no matter of breakers');
  two!.underWay.remove(last);
  t.equal(upstream.pick(LIST, null), two);
  const slot = await upstream.reserve(LIST);
  const next = upstream.reserve(LIST);
  const third = upstream.reserve(LIST);
  t.type(next, Promise, 'it is promised, to whom is not clear');
  slot!.free();
  t.not(await next, null, 'who had it was refused');
  two!.underWay.add({ places: null, withdraw: () => undefined });
  (await next)!.free();
  t.equal(await third, null, 'this one was sent');
});

t.test('no caller is promised more than its share of an operation, and of an address', (t) => {
  const upstream = open(['http://127.0.0.1:1'], 8);
  const promised = (operation: string, caller: string): number => {
    for (let count = 0; ; count += 1)
      if (upstream.reserve({ operation, caller, share: 1 / 2 }) instanceof Promise) return count;
  };
  t.equal(promised('listPets', 'one'), 15, 'three of the six connections of an operation, and four times as many wait');
  t.equal(promised('getPet', 'one'), 0, 'it is clear only later which of them are sent');
  t.equal(promised('listPets', 'two'), 15);
  t.equal(promised('listPets', 'three'), 0, 'the operation has no more');
  t.equal(promised('getPet', 'three'), 10, 'all together no more than there is');
  t.end();
});

t.test('no operation is promised more than its part, all together no more than there is', (t) => {
  const upstream = open(['http://127.0.0.1:1', 'http://127.0.0.1:2'], 4);
  const [one, two] = upstream.addresses;
  const promised = (operation: string): number => {
    for (let count = 0; ; count += 1)
      if (upstream.reserve({ operation, caller: operation, share: 1 }) instanceof Promise) return count;
  };
  load(one!, 2);
  one!.shares.enter({ places: null, start: () => undefined }, LIST, false);
  t.equal(promised('listPets'), 29, 'three of four connections of each, one of which it has');
  t.equal(promised('getPet'), 9, 'what is left');
  openBreaker(two!);
  t.type(upstream.reserve({ ...LIST, operation: 'createPet' }), Promise, 'what was promised counts, wherever it goes');
  t.end();
});
