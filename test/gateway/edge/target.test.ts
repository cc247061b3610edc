import fc from 'fast-check';
import t from 'tap';
import { parseTarget } from '../../../src/gateway/edge/target.js';

t.test('a target has one normal form', (t) => {
  for (const [target, path, query] of [
    ['/', '/', ''], ['/v1/pets', '/v1/pets', ''], ['/v1/pets?a=b?c', '/v1/pets', '?a=b?c'], ['/v1/pets?', '/v1/pets', '?'],
    ['/a/./b', '/a/b', ''], ['/a/../b', '/b', ''], ['/../../b', '/b', ''], ['/a/..', '/', ''], ['/a/.', '/a/', ''], ['/a/b/../', '/a/', ''],
    ['/%7Ea%2fb', '/~a%2Fb', ''], ['/%2e%2E/a', '/a', ''], ['/a?%zz', '/a', '?%zz'], ['/a//b', '/a//b', ''], ['/.a/..b', '/.a/..b', ''],
  ] as const) t.same(parseTarget(target, 'GET'), { path, query }, target);
  t.same(parseTarget('*', 'OPTIONS'), { path: '*', query: '' });
  t.end();
});

t.test('another form, and bytes that others read otherwise, are none', (t) => {
  for (const target of ['', '*', 'a', 'http://x/', 'x:80', '/a b', '/a#b', '/a\\b', '/\u0000', '/\u007f', '/caf\u00e9', '/a"b', '/<a>', '/{a}', '/a|b', '/a^b', '/a`b', '/%', '/%2', '/%zz', '/%u0041']) {
    t.equal(parseTarget(target, 'GET'), null, JSON.stringify(target));
  }
  t.end();
});

t.test('a normal form stays what it is, begins with a slash and has no dot segment', (t) => {
  const part = fc.constantFrom('a', 'pets', '.', '..', '...', '', '%2e', '%2E%2e', '%41', '%2f', '%25', '%252e', '~');
  fc.assert(fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
    const target = parseTarget(`/${parts.join('/')}`, 'GET');
    return target !== null && target.path.startsWith('/') && !/\/\.\.?(\/|$)/.test(target.path) && parseTarget(target.path, 'GET')?.path === target.path;
  }), { numRuns: 1000 });
  t.end();
});
