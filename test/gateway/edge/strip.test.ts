import t from 'tap';
import { connectionOptions, HOP_BY_HOP, lowerName } from '../../../src/gateway/edge/fields.js';
import { createStrip } from '../../../src/gateway/edge/strip.js';
import { makeExchange } from '../exchange.js';

const kept = (headers: readonly string[], traceContinued = false): readonly string[] =>
  createStrip(['bearer'])(makeExchange({ headers, traceContinued }).exchange).headers;

t.test('fields of one connection, of identity and of framing end here, in every spelling', (t) => {
  for (const name of [
    ...HOP_BY_HOP,
    'Authorization',
    'CONTENT-LENGTH',
    'Expect',
    'Host',
    'Forwarded',
    'X-Real-IP',
    'traceparent',
    'X-Request-ID',
    'x-petgate-anything',
    'X-FORWARDED-FOR',
    'X_Request_Id',
    'x_forwarded_For',
    'X-Petgate_Plan',
    'content_length',
    'Transfer_Encoding',
    'X_HTTP_Method_Override',
    'X-HTTP-Method-Override',
    'x-http-method',
    'X-Method-Override',
    'X-Rewrite-URL',
    'X-Override-Url',
    'X-ORIGINAL-URL',
    'Proxy',
    'True-Client-IP',
    'CF-Connecting-IP',
    'X-Client-IP',
    'X-Cluster-Client-IP',
    'X-Host',
    'Fastly-Client-IP',
    'X-Forwarded',
    'Forwarded-For',
    'X-Remote-Addr',
    'X-Originating-IP',
  ]) {
    t.same(kept([name, 'x']), [], name);
  }
  t.same(
    kept(['Accept', 'a', 'accept', 'b', 'Content-Type', 'c/d', 'session_id', 'e']),
    ['Accept', 'a', 'accept', 'b', 'Content-Type', 'c/d', 'session_id', 'e'],
    'others travel as they came',
  );
  t.end();
});

t.test('what Connection names goes too, however often and however spelled', (t) => {
  t.same(
    kept([
      'Connection',
      'close, X-One ,x-two',
      'X-ONE',
      '1',
      'X-Two',
      '2',
      'X-Three',
      '3',
      'connection',
      'X-Four',
      'X-Four',
      '4',
    ]),
    ['X-Three', '3'],
  );
  t.same(kept(['Connection', 'keep-alive', 'X-One', '1']), ['X-One', '1']);
  t.end();
});

t.test('a value that cannot be sent on does not travel', (t) => {
  for (const value of ['a\u0000b', 'a\nb', 'a\rb', 'a\u007f', 'snow \u2603'])
    t.same(kept(['X-Odd', value]), [], JSON.stringify(value));
  t.same(kept(['X-Fine', 'caf\u00e9\t~']), ['X-Fine', 'caf\u00e9\t~']);
  t.end();
});

t.test('tracestate travels with its trace only', (t) => {
  t.same(kept(['tracestate', 'a=1'], true), ['tracestate', 'a=1']);
  t.same(kept(['tracestate', 'a=1'], false), []);
  t.end();
});

t.test('more spellings than are remembered are still read right', (t) => {
  for (let n = 0; n < 1200; n += 1) t.equal(lowerName(`X-Name-${n}`), `x-name-${n}`);
  for (let n = 0; n < 1200; n += 1) kept([`X-Fill-${n}`, 'x']);
  t.same(kept(['X-Petgate-Late', 'x', 'X-Late', 'y']), ['X-Late', 'y']);
  t.same(connectionOptions('A, b ,C'), ['a', 'b', 'c']);
  t.end();
});

t.test('cookies of our own pages go no further, and others stay as they are', (t) => {
  const cookies = (...values: readonly string[]): readonly string[] =>
    kept(values.flatMap((value) => ['Cookie', value])).filter((_text, index) => index % 2 === 1);
  for (const own of [
    'petgate-account=v1.x',
    '__Secure-petgate-account=v1.x',
    'petgate-console=v1.x',
    'petgate-account',
  ]) {
    t.same(cookies(own), []);
    t.same(cookies(`a=1; ${own}; b=2`), ['a=1; b=2']);
    t.same(cookies(`${own};a=1`), ['a=1']);
    t.same(cookies(`a="x;${own};\t ${own} ;b="`), ['a="x; b="'], 'a quote hides nothing');
    t.same(cookies('a=1', own, 'b=2'), ['a=1', 'b=2']);
  }
  for (const other of ['a=1;b=2', ' a ; ', 'xpetgate-account=1', 'a=petgate-account=2']) {
    t.equal(cookies(other).length, 1, other);
    t.equal(cookies(other)[0]!.replaceAll(' ', ''), other.replaceAll(' ', ''));
  }
  t.same(kept(['cookie', 'petgate-account=x', 'COOKIE', 'petgate-account=x']), []);
  t.end();
});
