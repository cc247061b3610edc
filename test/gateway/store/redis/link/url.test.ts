import t from 'tap';
import { parseRedisUrl } from '../../../../../src/gateway/store/redis/link/url.js';

t.test('every documented form is read', (t) => {
  const open = { username: null, password: null, tls: false };
  t.same(parseRedisUrl('redis://localhost'), {
    kind: 'single',
    ...open,
    address: { host: 'localhost', port: 6379 },
    database: 0,
  });
  t.same(parseRedisUrl('rediss://me:p%40s%2Fs%25@h.example:7000/3'), {
    kind: 'single',
    username: 'me',
    password: 'p@s/s%',
    tls: true,
    address: { host: 'h.example', port: 7000 },
    database: 3,
  });
  t.same(parseRedisUrl('redis://:secret@[::1]:7000'), {
    kind: 'single',
    ...open,
    password: 'secret',
    address: { host: '::1', port: 7000 },
    database: 0,
  });
  t.same(parseRedisUrl('redis+sentinel://me:pw@a,b:1/mymaster'), {
    ...{ kind: 'sentinel', username: 'me', password: 'pw', tls: false, master: 'mymaster' },
    sentinels: [
      { host: 'a', port: 26379 },
      { host: 'b', port: 1 },
    ],
  });
  t.same(parseRedisUrl('rediss+cluster://a:1,[::2]:2,c'), {
    kind: 'cluster',
    ...open,
    tls: true,
    nodes: [
      { host: 'a', port: 1 },
      { host: '::2', port: 2 },
      { host: 'c', port: 6379 },
    ],
  });
  t.end();
});

t.test('a bad one is refused with what to write instead, never with the password', (t) => {
  const invalidUrl: readonly [string, RegExp][] = [
    ['', /must look like redis:/],
    ['localhost:6379', /must look like redis:/],
    ['http://:hunter2@h', /must look like redis:/],
    ['redis://:hunter2@', /must look like redis:/],
    ['redis://:hunter2@h/0?x=1', /must look like redis:/],
    ['redis://:hun/ter2@h:1', /must|has a host/],
    ['redis://:hunter2%zz@h', /%25/],
    ['redis://me@h', /user without a password/],
    ['redis://:hunter2@h:99999', /host/],
    ['redis://:hunter2@h:0', /host/],
    ['redis://:hunter2@h:port', /host/],
    ['redis://:hunter2@::1', /host/],
    ['redis://:hunter2@a,b', /redis\+cluster/],
    ['redis://:hunter2@h/name', /number of a database/],
    ['redis+sentinel://:hunter2@a:1', /name of the master/],
    ['redis+cluster://:hunter2@a:1/0', /no databases/],
  ];
  for (const [url, message] of invalidUrl) {
    const error = t.throws(() => parseRedisUrl(url), message, url) as Error;
    t.notMatch(`${error.message} ${error.stack ?? ''}`, /hunter2|ter2/, 'silent about the password');
  }
  t.end();
});
