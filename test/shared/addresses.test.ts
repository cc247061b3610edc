import t from 'tap';
import { isLocalAddress } from '../../src/shared/addresses.js';

t.test('addresses of this machine and of private networks are local, in every form', (t) => {
  for (const address of [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:7f00:1',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%lo',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'localhost',
    '127.1',
    '',
  ])
    t.equal(isLocalAddress(address), true, address);
  t.end();
});

t.test('public addresses are not', (t) => {
  for (const address of ['1.1.1.1', '8.8.8.8', '100.63.0.1', '172.15.0.1', '172.32.0.1', '192.167.1.1', '223.255.0.1'])
    t.equal(isLocalAddress(address), false, address);
  for (const address of ['2606:4700::1111', '2001:4860:4860::8888', '2a00:1450::1', '2620:fe::fe'])
    t.equal(isLocalAddress(address), false, address);
  t.end();
});
