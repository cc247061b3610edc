import fc from 'fast-check';
import t from 'tap';
import { startPostgres } from '../servers/postgres.js';
import { emptyStore, sendRaw, serve, TOKEN, type Answer, type Caller } from './service.js';

const server = await startPostgres();
t.teardown(() => server.stop());

const json = (answer: Answer): unknown => JSON.parse(answer.text);
const nextOf = (answer: Answer): string | undefined =>
  /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];

for (const kind of ['embedded', 'postgres'] as const) {
  t.test(`with the ${kind} store`, (t) => {
    const fresh = (): Promise<Caller> => emptyStore(t, kind, server).then((store) => serve(t, store));

    t.test('a pet that is created answers 201 with its place and is found there', async (t) => {
      const pets = await fresh();
      const created = await pets.send(
        'POST',
        '/v1/pets',
        '{"status":"sold","categoryId":9007199254740993,"name":"Rex"}',
      );
      t.equal(created.status, 201);
      t.equal(created.text, '{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"sold"}');
      t.equal(created.headers.get('location'), '/v1/pets/1');
      t.match(created.headers.get('content-type'), /^application\/json/);
      const found = await pets.send('GET', '/v1/pets/1');
      t.equal(found.status, 200);
      t.equal(found.text, created.text);
      const head = await pets.send('HEAD', '/v1/pets/1');
      t.equal(head.status, 200);
      t.equal(head.text, '');
      t.equal(head.headers.get('content-length'), String(created.text.length));
    });

    t.test('every int64 and every good name come back as they were sent', async (t) => {
      const pets = await fresh();
      const seed = Date.now() & 0x7fffffff;
      t.comment(`seed ${seed}`);
      const int64 = fc.oneof(
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 0n),
      );
      const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }).filter((text) => !/\p{Cc}/u.test(text));
      await fc.assert(
        fc.asyncProperty(int64, name, async (categoryId, name) => {
          const created = await pets.send(
            'POST',
            '/v1/pets',
            `{"name":${JSON.stringify(name)},"categoryId":${categoryId.toString()}}`,
          );
          const id = /^\{"id":([0-9]+),/.exec(created.text)?.[1] ?? '';
          const found = await pets.send('GET', `/v1/pets/${id}`);
          return found.text === `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId.toString()}}`;
        }),
        { numRuns: 60, seed },
      );
    });

    t.test('the list is a bare array with a next link exactly where a next page is', async (t) => {
      const pets = await fresh();
      t.equal((await pets.send('GET', '/v1/pets')).text, '[]');
      for (let count = 1; count <= 41; count += 1)
        await pets.send(
          'POST',
          '/v1/pets',
          `{"name":"Rex","categoryId":1${count % 2 === 0 ? ',"status":"sold"' : ''}}`,
        );
      const first = await pets.send('GET', '/v1/pets');
      t.equal((json(first) as unknown[]).length, 20, 'default limit');
      t.match(nextOf(first), /^\/v1\/pets\?limit=20&cursor=[\w-]+$/);
      const second = await pets.send('GET', nextOf(first) ?? '');
      t.equal((json(second) as unknown[]).length, 20);
      const third = await pets.send('GET', nextOf(second) ?? '');
      t.same(
        (json(third) as { id: number }[]).map((pet) => pet.id),
        [41],
      );
      t.notOk(third.headers.has('link'));

      const sold = await pets.send('GET', '/v1/pets?status=sold&limit=10');
      t.match(nextOf(sold), /^\/v1\/pets\?limit=10&status=sold&cursor=[\w-]+$/);
      const rest = await pets.send('GET', nextOf(sold) ?? '');
      t.equal((json(rest) as unknown[]).length, 10);
      t.notOk(rest.headers.has('link'), 'the last page is full and has no next');
      const head = await pets.send('HEAD', '/v1/pets?status=sold&limit=10');
      t.equal(head.headers.get('link'), sold.headers.get('link'));
      const other = await pets.send('GET', (nextOf(sold) ?? '').replace('sold', 'pending'));
      t.equal(other.status, 400);
      t.match(json(other), { code: 'invalid_parameter', message: /^cursor/ });
    });

    t.test(
      'following next meets every pet that was there at the start exactly once, while 50 more are added',
      async (t) => {
        const pets = await fresh();
        const add = async (index: number): Promise<number> =>
          (json(await pets.send('POST', '/v1/pets', `{"name":"Rex ${index}","categoryId":1}`)) as { id: number }).id;
        const old: number[] = [];
        for (let start = 0; start < 1_050; start += 50)
          old.push(...(await Promise.all(Array.from({ length: 50 }, (_, index) => add(start + index)))));
        const seen: number[] = [];
        const adding: Promise<number>[] = [];
        for (let path: string | undefined = '/v1/pets?limit=100'; path !== undefined;) {
          for (let count = 0; count < 5 && adding.length < 50; count += 1) adding.push(add(2_000));
          const page = await pets.send('GET', path);
          seen.push(...(json(page) as { id: number }[]).map((pet) => pet.id));
          path = nextOf(page);
        }
        t.equal((await Promise.all(adding)).length, 50);
        t.equal(new Set(seen).size, seen.length, 'none twice');
        t.same(
          seen.filter((id) => old.includes(id)),
          [...old].sort((a, b) => a - b),
          'every old one, in order',
        );
        t.same(
          seen,
          [...seen].sort((a, b) => a - b),
        );
      },
    );

    t.test('an id that was never given is 404 pet_not_found', async (t) => {
      const answer = await (await fresh()).send('GET', '/v1/pets/9223372036854775807');
      t.equal(answer.status, 404);
      t.match(json(answer), { code: 'pet_not_found', message: /9223372036854775807/, status: 404 });
    });
    t.end();
  });
}

t.test('what is wrong is refused by name', async (t) => {
  const pets = await serve(t, await emptyStore(t, 'embedded', server));
  const refused = async (
    answer: Promise<Answer>,
    status: number,
    code: string,
    says: RegExp,
    what: string,
  ): Promise<void> => {
    const { status: got, text, headers } = await answer;
    t.equal(got, status, what);
    t.match(headers.get('content-type'), /^application\/json/);
    const body = JSON.parse(text) as { message: string };
    t.match(body, { code, status, message: says }, what);
    t.same(Object.keys(body).sort(), ['code', 'message', 'status']);
    t.ok(body.message.length < 200, 'a short message');
  };

  const invalid = (path: string, says: RegExp): Promise<void> =>
    refused(pets.send('GET', path), 400, 'invalid_parameter', says, path.slice(0, 60));
  const unsupported = (body: string, headers: Record<string, string>, says: RegExp): Promise<void> =>
    refused(pets.send('POST', '/v1/pets', body, headers), 415, 'unsupported_media_type', says, JSON.stringify(headers));

  t.test('query parameters: 400 with the name', async () => {
    for (const limit of [
      '0',
      '101',
      '-1',
      '',
      '1.0',
      '1e1',
      '+5',
      '05',
      '0x10',
      ' 5',
      'abc',
      '9'.repeat(500),
      '%00',
      '%F0%28',
    ]) {
      await invalid(`/v1/pets?limit=${limit}`, /^limit/);
    }
    for (const status of ['', 'lost', 'Sold', 'sold,pending', 'constructor'])
      await invalid(`/v1/pets?status=${status}`, /^status/);
    const ours = Buffer.from('1 5 *').toString('base64url');
    for (const cursor of [
      '',
      'x',
      `${ours}=`,
      `${ours}AA`,
      Buffer.from('2 5 *').toString('base64url'),
      Buffer.from('1 0 *').toString('base64url'),
      Buffer.from('1 05 *').toString('base64url'),
      Buffer.from('1 9223372036854775808 *').toString('base64url'),
    ]) {
      await invalid(`/v1/pets?cursor=${cursor}`, /^cursor/);
    }
    await invalid(`/v1/pets?status=sold&cursor=${ours}`, /^cursor/);
    for (const query of ['limit=5&limit=5', 'limit=5&limi%74=6'])
      await invalid(`/v1/pets?${query}`, /^limit is in the query twice/);
    for (const path of ['/v1/pets?offset=1', '/v1/pets?limit=5&Offset', '/v1/pets/1?offset=1', '/v1/pets?__proto__=1'])
      await invalid(path, /"(?:[oO]ffset|__proto__)"/);
    await invalid('/v1/pets/0?offset=1', /^petId .* The query parameter "offset"/);
    await refused(
      pets.send('POST', '/v1/pets?offset=1', '{"name":"Rex","categoryId":1}'),
      400,
      'invalid_parameter',
      /"offset"/,
      'POST with a query',
    );
  });

  t.test('petId: 400 with its name', async () => {
    for (const id of [
      '0',
      '-1',
      '+1',
      '01',
      '1.0',
      '1e3',
      'abc',
      '9223372036854775808',
      '9'.repeat(5_000),
      '%20',
      '1%00',
      '%F0%9F%98%80',
    ]) {
      await invalid(`/v1/pets/${id}`, /^petId/);
    }
  });

  t.test('paths and methods there are not', async (t) => {
    for (const path of [
      '/',
      '/v1',
      '/v1/',
      '/v1/pets/',
      '/v1/pets/1/',
      '/v1/pets/1/x',
      '/V1/pets',
      '/v1/store/orders',
      '//v1/pets',
    ]) {
      await refused(pets.send('GET', path), 404, 'not_found', /\/v1\/pets/, path);
    }
    for (const path of ['/v1/pets/%zz', '/%', '/v1/pets/%C3%'])
      await refused(pets.send('GET', path), 400, 'malformed_request', /broken percent escape/, path);
    for (const path of ['/v1/pets/%ff', '/v1/pets/%C3', '/%c3%28', '/v1/pets/%ed%a0%80', '/v1/pets/%ff?x=%zz'])
      await refused(pets.send('GET', path), 400, 'malformed_request', /not UTF-8/, path);
    for (const [method, path, allow] of [
      ['PUT', '/v1/pets', 'GET, HEAD, POST'],
      ['OPTIONS', '/v1/pets', 'GET, HEAD, POST'],
      ['PROPFIND', '/v1/pets?x=1', 'GET, HEAD, POST'],
      ['DELETE', '/v1/pets/1', 'GET, HEAD'],
      ['POST', '/v1/pets/1', 'GET, HEAD'],
      ['POST', '/readyz', 'GET, HEAD'],
    ] as const) {
      const answer = pets.send(method, path);
      await refused(answer, 405, 'method_not_allowed', /GET, HEAD/, `${method} ${path}`);
      t.equal((await answer).headers.get('allow'), allow);
    }
  });

  t.test('bodies that are not plain JSON: 415, before they are read', async () => {
    const good = '{"name":"Rex","categoryId":1}';
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
      'application/json; charset=utf-16',
      'application/jsonx',
      'application/vnd.api+json',
      'json',
      'application/json, text/plain',
    ]) {
      await unsupported(good, { 'content-type': type }, /application\/json/);
    }
    await unsupported(good, { 'content-encoding': 'gzip' }, /Content-Encoding/);
    await unsupported('x'.repeat(2_000_000), { 'content-type': 'text/plain' }, /application\/json/);
  });

  t.test('a body without Content-Type is 415, no body at all is 400', async (t) => {
    const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${TOKEN}\r\n`;
    t.match(
      await sendRaw(pets.port, `${head}Content-Length: 2\r\n\r\n{}`),
      /^HTTP\/1.1 415 .*"code":"unsupported_media_type"/s,
    );
    t.match(
      await sendRaw(pets.port, `${head}Content-Length: 0\r\n\r\n`),
      /^HTTP\/1.1 400 .*"code":"invalid_body".*empty/s,
    );
    t.match(await sendRaw(pets.port, `${head}\r\n`), /^HTTP\/1.1 400 .*"code":"invalid_body".*empty/s);
    t.match(
      await sendRaw(pets.port, `${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
      /^HTTP\/1.1 400 .*empty/s,
    );
  });

  t.test('content types that mean JSON in UTF-8 are taken', async (t) => {
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON;charset="UTF-8"',
      'application/json; version=1',
    ]) {
      t.equal(
        (await pets.send('POST', '/v1/pets', '{"name":"Rex","categoryId":1}', { 'content-type': type })).status,
        201,
        type,
      );
    }
  });

  t.test('a body over 1 MiB is 413, announced or not, and its connection goes on to an end', async (t) => {
    const fill = (bytes: number): string => `{"name":"Rex","categoryId":1}${' '.repeat(bytes - 29)}`;
    t.equal((await pets.send('POST', '/v1/pets', fill(1_048_576))).status, 201, 'exactly 1 MiB');
    await refused(pets.send('POST', '/v1/pets', fill(1_048_577)), 413, 'body_too_large', /1048576 bytes/, 'announced');
    const head =
      'POST /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ' +
      `application/json\r\nAuthorization: Bearer ${TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    t.match(
      await sendRaw(pets.port, `${head}200000\r\n${fill(0x200000)}\r\n0\r\n\r\n`),
      /^HTTP\/1.1 413 .*"code":"body_too_large"/s,
      'chunked',
    );
  });
});
