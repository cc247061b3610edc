import t from 'tap';
import { bucketOf, createAddressReader } from '../../../src/gateway/edge/client-address.js';

t.test('without trusted proxies the peer alone counts', (t) => {
  const reader = createAddressReader([]);
  t.equal(reader.read('192.0.2.1', null), '192.0.2.1');
  t.equal(reader.read('192.0.2.1', '198.51.100.1'), '192.0.2.1');
  t.equal(reader.read('::ffff:192.0.2.1', null), '192.0.2.1', 'an IPv4 in IPv6 spelling is an IPv4');
  t.equal(reader.read('fe80::1%eth0', null), 'fe80::1', 'a zone is local');
  t.equal(reader.read(undefined, null), '0.0.0.0', 'a peer that was reset has no address');
  t.end();
});

t.test('hops are believed from the nearest outwards, as long as who says it is trusted', (t) => {
  const reader = createAddressReader(['10.0.0.0/8', '2001:db8:1::/48', '192.0.2.9']);
  for (const [remote, said, heard] of [
    ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '198.51.100.66, 198.51.100.2', '198.51.100.2'],
    ['10.0.0.1', '198.51.100.3,10.9.9.9', '198.51.100.3'],
    ['192.0.2.9', '10.1.1.1', '10.1.1.1'],
    ['192.0.2.8', '198.51.100.1', '192.0.2.8'],
    ['::ffff:10.0.0.1', '198.51.100.4', '198.51.100.4'],
    ['2001:db8:1::5', '2001:db8:2::7', '2001:db8:2::7'],
    ['10.0.0.1', '[2001:db8:2::7]:443', '2001:db8:2::7'],
    ['10.0.0.1', '198.51.100.5:1234', '198.51.100.5'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', 'unknown', '10.0.0.1'],
    ['10.0.0.1', '198.51.100.6, , 10.2.2.2', '198.51.100.6'],
    ['10.0.0.1', '198.51.100.7,', '198.51.100.7'],
    ['10.0.0.1', ' ,,198.51.100.8 , ,', '198.51.100.8'],
    ['10.0.0.1', ',, ', '10.0.0.1'],
    ['10.0.0.1', '1.2.3', '10.0.0.1'],
  ] as const)
    t.equal(reader.read(remote, said), heard, `${remote} says ${said}`);
  t.end();
});

t.test('the bucket of an IPv6 is its /64, in one spelling', (t) => {
  t.equal(bucketOf('192.0.2.1'), '192.0.2.1');
  for (const same of ['2001:db8::1', '2001:0DB8:0:0::2', '2001:db8:0:0:ffff:ffff:ffff:ffff', '2001:db8::192.0.2.1'])
    t.equal(bucketOf(same), '2001:db8:0:0', same);
  t.equal(bucketOf('2001:db8:0:1::1'), '2001:db8:0:1');
  t.equal(bucketOf('::1'), '0:0:0:0');
  t.equal(bucketOf('1::'), '1:0:0:0');
  t.end();
});
