import fc from 'fast-check';
import t from 'tap';
import { parseTarget, refusedCharacter } from '../../../src/gateway/edge/target.js';

t.test('a target has one normal form', (t) => {
  for (const [target, path, query] of [
    ['/', '/', ''],
    ['/v1/pets', '/v1/pets', ''],
    ['/v1/pets?a=b?c', '/v1/pets', '?a=b?c'],
    ['/v1/pets?', '/v1/pets', '?'],
    ['/a/./b', '/a/b', ''],
    ['/a/../b', '/b', ''],
    ['/../../b', '/b', ''],
    ['/a/..', '/', ''],
    ['/a/.', '/a/', ''],
    ['/a/b/../', '/a/', ''],
    ['/%7Ea%2fb', '/~a%2Fb', ''],
    ['/%2e%2E/a', '/a', ''],
    ['/a?%zz', '/a', '?%zz'],
    ['/a//b', '/a//b', ''],
    ['/.a/..b', '/.a/..b', ''],
    ['/a|b^c?|{}^`\\', '/a%7Cb%5Ec', '?%7C%7B%7D%5E%60%5C'],
    ['http://x?a|b', '/', '?a%7Cb'],
  ] as const)
    t.same(parseTarget(target, 'GET'), { path, query }, target);
  t.same(parseTarget('*', 'OPTIONS'), { path: '*', query: '' });
  t.end();
});

t.test('the absolute form is read as the origin form it stands for', (t) => {
  for (const [target, path, query] of [
    ['http://pets.example/v1/pets', '/v1/pets', ''],
    ['https://pets.example/v1/pets?a=b', '/v1/pets', '?a=b'],
    ['HTTP://X:80/a/../b', '/b', ''],
    ['http://x', '/', ''],
    ['http://x?a=/b', '/', '?a=/b'],
    ['http://[::1]:8080/', '/', ''],
    ['http://x:/', '/', ''],
    ['http://x//a', '//a', ''],
  ] as const)
    t.same(parseTarget(target, 'GET'), { path, query }, target);
  t.same(parseTarget('http://x', 'OPTIONS'), { path: '*', query: '' }, 'RFC 9112 §3.2.4');
  t.same(parseTarget('http://x/', 'OPTIONS'), { path: '/', query: '' });
  for (const target of [
    'http://',
    'http:///v1/pets',
    'http:/v1/pets',
    'http:v1',
    'http://user@x/',
    'http://user:word@x/',
    'http://@x/',
    'http://x:port/',
    'http://x:123456/',
    'http://[::1/',
    'http://x y/',
    'http://x/#a',
    'http://x\\y/',
    'ftp://x/',
    'ws://x/',
    'wss://x/',
    'file:///etc/passwd',
    'javascript://x/',
    '//x/a b',
    'https//x/',
    'http://x/%zz',
    'http://:80/',
  ]) {
    t.equal(parseTarget(target, 'GET'), null, target);
  }
  t.end();
});

t.test('another form, and bytes that others read otherwise, are none', (t) => {
  for (const target of [
    '',
    '*',
    'a',
    'x:80',
    '/a b',
    '/a#b',
    '/a\\b',
    '/\u0000',
    '/\u007f',
    '/caf\u00e9',
    '/a"b',
    '/<a>',
    '/{a}',
    '/a`b',
    '/a?"b',
    '/a?<b>',
    'http://a|b/',
    '/%',
    '/%2',
    '/%zz',
    '/%u0041',
    '/%00',
    '/a?%0a',
    '/%1F',
    '/a?b=%7f',
    '/a?%0D%0A',
  ]) {
    t.equal(parseTarget(target, 'GET'), null, JSON.stringify(target));
  }
  t.end();
});

t.test('a message names the character that is refused, as it should be sent', (t) => {
  for (const [target, named] of [
    ['/a"b|', '""" unescaped. Send it as %22.'],
    ['/a?b<c', '"<" unescaped. Send it as %3C.'],
    ['/{a}', '"{" unescaped. Send it as %7B.'],
    ['/caf\u00e9', 'not visible ASCII unescaped. Send it as %E9.'],
    ['/a b', 'not visible ASCII unescaped. Send it as %20.'],
    ['/a%zz?%zz', '"%" unescaped. Send it as %25.'],
    ['/a?%0a', '%0a, a control character. Remove it.'],
  ] as const)
    t.equal(refusedCharacter(target)?.endsWith(named), true, `${target}: ${refusedCharacter(target)}`);
  t.equal(refusedCharacter('ftp://x/'), null, 'something else is wrong');
  t.end();
});

t.test('a normal form stays what it is, begins with a slash and has no dot segment', (t) => {
  const part = fc.constantFrom('a', 'pets', '.', '..', '...', '', '%2e', '%2E%2e', '%41', '%2f', '%25', '%252e', '~');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const target = parseTarget(`/${parts.join('/')}`, 'GET');
      return (
        target !== null &&
        target.path.startsWith('/') &&
        !/\/\.\.?(\/|$)/.test(target.path) &&
        parseTarget(target.path, 'GET')?.path === target.path
      );
    }),
    { numRuns: 1000 },
  );
  t.end();
});
