import t from 'tap';
import { markDown } from '../../../src/gateway/upstream/address.js';
import { openUpstreams } from '../../../src/gateway/upstream/pools.js';
import type { Upstream } from '../../../src/gateway/upstream/pools.js';

function open(addresses: readonly string[], connections = 2): Upstream {
  const upstreams = openUpstreams({ pets: { addresses, connections, connectMs: 100, deadlineMs: 100, health: null }, store: { addresses: [], connections: 1, connectMs: 1, deadlineMs: 1, health: null } });
  t.same([...upstreams.keys()], ['pets'], 'one without addresses is not there');
  const upstream = upstreams.get('pets')!;
  t.teardown(() => upstream.close());
  return upstream;
}

t.test('the least loaded address is picked', (t) => {
  const upstream = open(['http://127.0.0.1:1', 'http://127.0.0.1:2']);
  const [one, two] = upstream.addresses;
  t.equal(upstream.pick(null), one);
  one!.inFlight = 1;
  t.equal(upstream.pick(null), two);
  t.equal(upstream.pick(two!), one, 'but not the one that just failed');
  t.end();
});

t.test('one that is down is passed over while another is up, and is better than none', (t) => {
  const upstream = open(['http://127.0.0.1:1', 'unix:/run/pets.sock']);
  const [one, two] = upstream.addresses;
  markDown(one!);
  two!.inFlight = 5;
  t.equal(upstream.pick(null), two);
  markDown(two!);
  t.equal(upstream.pick(null), one, 'of two that are down the one that went first');
  t.equal(open(['http://127.0.0.1:1']).pick(null)?.url, 'http://127.0.0.1:1');
  const single = open(['http://127.0.0.1:1']);
  t.equal(single.pick(single.addresses[0]!), single.addresses[0], 'an only address is tried again');
  t.end();
});

t.test('a full address takes no more', (t) => {
  const upstream = open(['http://127.0.0.1:1', 'http://127.0.0.1:2'], 2);
  for (const address of upstream.addresses) address.inFlight = 10;
  t.equal(upstream.pick(null), null);
  upstream.addresses[1]!.inFlight = 9;
  t.equal(upstream.pick(null), upstream.addresses[1]);
  t.end();
});
