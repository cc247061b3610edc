import { connect } from 'node:net';
import t from 'tap';
import { openEmbeddedStore } from '../../src/pets/store/embedded.js';
import { StoreUnavailable, type PetStore } from '../../src/pets/store/port.js';
import { sendRaw, serve, temporaryFolder, TOKEN } from './service.js';

t.test('only the internal token opens anything but health', async (t) => {
  const pets = await serve(t, openEmbeddedStore(temporaryFolder(t)));
  const wrong = [
    '',
    'Bearer',
    'Bearer ',
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(1)}`,
    `Basic ${TOKEN}`,
    TOKEN,
    `Bearer${TOKEN}`,
    `Bearer ${TOKEN},${TOKEN}`,
  ];
  for (const authorization of wrong) {
    for (const [method, path] of [
      ['GET', '/v1/pets'],
      ['GET', '/v1/pets/1'],
      ['GET', '/nothing'],
      ['DELETE', '/v1/pets'],
      ['GET', '/v1/pets/%zz'],
      ['GET', '/livez/x'],
    ] as const) {
      const answer = await pets.send(method, path, undefined, { authorization });
      t.equal(answer.status, 401, `${method} ${path} with "${authorization}"`);
      t.match(JSON.parse(answer.text), { code: 'unauthorized', status: 401 });
      t.match(answer.headers.get('www-authenticate'), /^Bearer/);
      t.notMatch(answer.text, TOKEN);
    }
    t.equal((await pets.send('POST', '/v1/pets', '{"name":"Rex","categoryId":1}', { authorization })).status, 401);
    t.equal((await pets.send('GET', '/livez', undefined, { authorization })).status, 200);
    t.equal((await pets.send('GET', '/readyz', undefined, { authorization })).status, 200);
  }
  t.equal(
    (await pets.send('GET', '/v1/pets', undefined, { authorization: `bearer ${TOKEN}` })).status,
    200,
    'the scheme in any case',
  );
  t.equal((await pets.send('GET', '/v1/pets')).text, '[]', 'nothing was added without it');
});

/** A store that is unavailable: what it takes to see how the service says so. */
const away: PetStore = {
  add: () => Promise.reject(new StoreUnavailable('away')),
  read: () => Promise.reject(new StoreUnavailable('away')),
  page: () => Promise.reject(new TypeError('secret detail')),
  check: () => Promise.reject(new StoreUnavailable('away')),
  close: () => Promise.resolve(),
};

t.test('a store that is unavailable is 503 with Retry-After, and not ready, but alive', async (t) => {
  const pets = await serve(t, away);
  for (const answer of [
    await pets.send('GET', '/v1/pets/1'),
    await pets.send('POST', '/v1/pets', '{"name":"Rex","categoryId":1}'),
  ]) {
    t.equal(answer.status, 503);
    t.match(JSON.parse(answer.text), { code: 'store_unavailable', status: 503 });
    t.equal(answer.headers.get('retry-after'), '1');
  }
  const ready = await pets.send('GET', '/readyz');
  t.equal(ready.status, 503);
  t.same(JSON.parse(ready.text), { ready: false, store: 'unavailable', draining: false });
  t.equal((await pets.send('GET', '/livez')).status, 200);
});

t.test('a bug is 500 internal_error and tells nothing', async (t) => {
  const answer = await (await serve(t, away)).send('GET', '/v1/pets');
  t.equal(answer.status, 500);
  t.match(JSON.parse(answer.text), { code: 'internal_error', status: 500 });
  t.notMatch(answer.text, /secret/);
});

t.test('while draining it answers, closes the connection and is not ready', async (t) => {
  const pets = await serve(t, openEmbeddedStore(temporaryFolder(t)), () => true);
  const ready = await pets.send('GET', '/readyz');
  t.equal(ready.status, 503);
  t.same(JSON.parse(ready.text), { ready: false, store: 'ok', draining: true });
  t.match(
    await sendRaw(pets.port, `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`),
    /^HTTP\/1\.1 200 OK\r\n.*connection: close\r\n.*\[\]$/s,
  );
});

t.test('what is not HTTP is told so in the Error body', async (t) => {
  const pets = await serve(t, openEmbeddedStore(temporaryFolder(t)));
  for (const [bytes, expected] of [
    ['HELLO\r\n\r\n', /^HTTP\/1\.1 400 .*"code":"malformed_request"/s],
    [
      'GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      /^HTTP\/1\.1 400 .*"code":"malformed_request"/s,
    ],
    [`GET /livez HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431 .*"code":"headers_too_large"/s],
    ['CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n', /^HTTP\/1\.1 400 .*"code":"malformed_request"/s],
    ['GET /livez HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n\r\n', /^HTTP\/1\.1 417 .*"code":"expectation_failed"/s],
    ['GET /livez HTTP/1.0\r\n\r\n', /^HTTP\/1\.1 200 /],
  ] as const) {
    const answer = await sendRaw(pets.port, bytes);
    t.match(answer, expected, bytes.slice(0, 30));
    t.notMatch(answer, TOKEN);
  }
});

t.test('a caller that leaves in the middle of a body harms nobody', async (t) => {
  const pets = await serve(t, openEmbeddedStore(temporaryFolder(t)));
  await new Promise<void>((resolve) => {
    const socket = connect(pets.port, '127.0.0.1', () => {
      socket.write(
        `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: ` +
          'application/json\r\nContent-Length: 50\r\n\r\n{"name"',
        () => socket.resetAndDestroy(),
      );
    });
    socket.on('close', () => resolve());
  });
  t.equal((await pets.send('GET', '/v1/pets')).text, '[]');
});
