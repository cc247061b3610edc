import t from 'tap';
import type { Address } from '../../../src/gateway/upstream/addresses/address.js';
import type { BreakerSettings } from '../../../src/gateway/config/settings.js';
import { openUpstreams, type Upstream } from '../../../src/gateway/upstream/pools.js';
import { NO_EVENTS, upstreamSettings } from './settings.js';

const BREAKER = { failures: 1, openMs: 60_000, capMs: 60_000 };

function open(addresses: readonly string[], connections = 2, breaker: BreakerSettings = BREAKER): Upstream {
  const more = { connections, connectMs: 100, deadlineMs: 100, breaker };
  const pets = upstreamSettings({ addresses, ...more });
  const upstreams = openUpstreams({ pets, store: { ...pets, addresses: [] } }, NO_EVENTS);
  t.same([...upstreams.keys()], ['pets'], 'one without addresses is not there');
  const upstream = upstreams.get('pets')!;
  t.teardown(() => upstream.close());
  return upstream;
}

/** So many attempts are under way there. */
function load({ underWay }: Address, count: number): void {
  while (underWay.size < count) underWay.add({ withdraw: () => undefined });
}

function openBreaker({ breaker }: Address): void {
  breaker.ended(breaker.send(performance.now()), 'lost', performance.now());
}

t.test('the least loaded address is picked', (t) => {
  const upstream = open(['http://127.0.0.1:1', 'http://127.0.0.1:2']);
  const [one, two] = upstream.addresses;
  t.equal(upstream.pick('listPets', null), one);
  load(one!, 1);
  t.equal(upstream.pick('listPets', null), two);
  t.equal(upstream.pick('listPets', two!), one, 'but not the one that just failed');
  const single = open(['http://127.0.0.1:1']);
  t.equal(single.pick('listPets', single.addresses[0]!), single.addresses[0], 'unless there is no other');
  t.end();
});

t.test('one whose breaker is open is passed over, also by a second attempt', (t) => {
  const upstream = open(['http://127.0.0.1:1', 'unix:/run/pets.sock']);
  const [one, two] = upstream.addresses;
  openBreaker(one!);
  load(two!, 5);
  t.equal(upstream.pick('listPets', null), two);
  t.equal(upstream.pick('listPets', two!), two, 'the same again is better than one that is open');
  t.equal(upstream.waitMs(), null, 'another is there');
  openBreaker(two!);
  t.equal(upstream.pick('listPets', null), null);
  const waitMs = upstream.waitMs() ?? 0;
  t.ok(waitMs > 59_000 && waitMs <= 60_000, `the next trial is in ${waitMs} ms`);
  t.end();
});

t.test(
  'a trial goes first, and however many hang there, but never to an unhealthy address while a healthy one is there',
  (t) => {
    const upstream = open(['http://127.0.0.1:1', 'http://127.0.0.1:2'], 2, { failures: 1, openMs: 0, capMs: 60_000 });
    const [one, two] = upstream.addresses;
    openBreaker(one!);
    load(one!, 10);
    load(two!, 9);
    one!.healthy = false;
    t.equal(upstream.pick('listPets', null), two);
    one!.healthy = true;
    t.equal(upstream.pick('listPets', null), one);
    two!.healthy = false;
    openBreaker(two!);
    t.equal(upstream.pick('listPets', null), one);
    one!.healthy = false;
    t.equal(upstream.pick('listPets', null), two, 'when no one is healthy, all are tried');
    t.equal(upstream.waitMs(), 0);
    t.end();
  },
);

t.test('a full address takes no more, but for one that had a place', async (t) => {
  const upstream = open(['http://127.0.0.1:1', 'http://127.0.0.1:2'], 2);
  const [one, two] = upstream.addresses;
  load(one!, 10);
  load(two!, 9);
  const last = two!.underWay.add({ withdraw: () => undefined });
  t.equal(upstream.reserve('listPets'), null);
  t.equal(upstream.pick('listPets', one!), null, 'nor a second attempt');
  t.not(upstream.pick('listPets', null), null);
  t.equal(upstream.waitMs(), null, 'that is no matter of breakers');
  two!.underWay.remove(last);
  t.equal(upstream.pick('listPets', null), two);
  const slot = await upstream.reserve('listPets');
  const next = upstream.reserve('listPets');
  const third = upstream.reserve('listPets');
  t.type(next, Promise, 'it is promised, to whom is not clear');
  slot!.free();
  t.not(await next, null, 'who had it was refused');
  two!.underWay.add({ withdraw: () => undefined });
  (await next)!.free();
  t.equal(await third, null, 'this one was sent');
});

t.test('no operation is promised more than its part, all together no more than there is', (t) => {
  const upstream = open(['http://127.0.0.1:1', 'http://127.0.0.1:2'], 4);
  const [one, two] = upstream.addresses;
  const promised = (operation: string): number => {
    for (let count = 0; ; count += 1) if (upstream.reserve(operation) instanceof Promise) return count;
  };
  load(one!, 2);
  one!.shareOf('listPets').enter({ start: () => undefined }, false);
  t.equal(promised('listPets'), 29, 'three of four connections of each, one of which it has');
  t.equal(promised('getPet'), 9, 'what is left');
  openBreaker(two!);
  t.type(upstream.reserve('createPet'), Promise, 'what was promised counts, wherever it goes');
  t.end();
});
