import t from 'tap';
import { requestOf } from '../../../src/gateway/docs/docs-browser.js';

t.test('a request has what was filled in, escaped, and the key where it is read', (t) => {
  const inputs = [
    ['path', 'id', 'a/b ü'],
    ['query', 'q&', '9007199254740993'],
    ['query', 'empty', ''],
    ['header', 'X-Trace', '1'],
  ] as const;
  t.strictSame(requestOf('/v1/{id}', false, inputs, 'bearer', 'k'), {
    target: '/v1/a%2Fb%20%C3%BC?q%26=9007199254740993',
    headers: [
      ['X-Trace', '1'],
      ['Authorization', 'Bearer k'],
    ],
  });
  for (const path of ['/{+id}', '/{id*}', '/{id+}'])
    t.equal(requestOf(path, false, inputs.slice(0, 1), 'bearer', '').target, '/a/b%20%C3%BC');
  t.equal(requestOf('/{id}', true, inputs.slice(0, 1), 'bearer', '').target, '/a/b%20%C3%BC');
  t.equal(requestOf('/{id}', true, [], 'bearer', '').target, '/');
  for (const [location, target, headers] of [
    [{ header: 'X-Key' }, '/', [['X-Key', 'k']]],
    [{ query: 'api key' }, '/?api%20key=k', []],
    [{ scheme: 'token' }, '/', [['Authorization', 'token k']]],
    [{ basic: 'username' }, '/', [['Authorization', 'Basic azo=']]],
    [{ basic: 'password' }, '/', [['Authorization', 'Basic Oms=']]],
  ] as const)
    t.strictSame(requestOf('/', false, [], location, 'k'), { target, headers });
  t.end();
});
