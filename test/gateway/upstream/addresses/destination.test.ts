import t from 'tap';
import { destinationOf, isNamed, resolvedTo } from '../../../../src/gateway/upstream/addresses/destination.js';

const CASES: readonly (readonly [string, unknown, string, string, boolean])[] = [
  ['http://127.0.0.1:8081', { host: '127.0.0.1', port: 8081 }, '127.0.0.1:8081', '', false],
  ['http://app/', { host: 'app', port: 80 }, 'app', '', true],
  ['https://api.example.com', { host: 'api.example.com', port: 443 }, 'api.example.com', '', true],
  ['https://api.example.com:8443/v2/', { host: 'api.example.com', port: 8443 }, 'api.example.com:8443', '/v2', true],
  ['http://[::1]:3000/api/x', { host: '::1', port: 3000 }, '[::1]:3000', '/api/x', false],
  ['unix:/run/app.sock', { path: '/run/app.sock' }, 'localhost', '', false],
  ['unix:/run/a:b.sock:/api', { path: '/run/a:b.sock' }, 'localhost', '/api', false],
];

for (const [url, target, host, prefix, named] of CASES) {
  t.test(url, (t) => {
    const destination = destinationOf(url);
    t.same([destination.target, destination.host, destination.prefix], [target, host, prefix]);
    t.equal(destination.isSecure, url.startsWith('https:'));
    t.equal(isNamed(destination), named);
    t.end();
  });
}

t.test('at one of the addresses of its name all but the target stays', (t) => {
  const named = destinationOf('https://api.example.com/v2');
  const resolved = resolvedTo(named, '2001:db8::7');
  t.same(resolved, {
    ...named,
    url: 'https://api.example.com/v2 (2001:db8::7)',
    target: { host: '2001:db8::7', port: 443 },
  });
  t.notOk(isNamed(resolved));
  t.end();
});
