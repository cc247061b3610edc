import t from 'tap';
import type { Test } from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import { startGateway } from '../servers/gateway.js';
import { startPets } from '../servers/pets.js';
import { openClient, type Client } from './client.js';

const AT_START = 1050;
const ADDED = 50;
const UNLIMITED = { plan: 'enterprise', limits: { minute: 'unlimited', day: 'unlimited' } };

interface Store {
  readonly client: Client;
  readonly key: string;
}

/** A gateway with a pets service upstream, and a key that nothing stops. */
async function openStore(t: Test): Promise<Store> {
  const pets = await startPets(t);
  const gateway = await startGateway(t, { environment: { PETS_URL: pets.url } });
  const { key } = await gateway.createKey(UNLIMITED);
  return { client: openClient(t, gateway.url, 32), key };
}

async function add({ client, key }: Store, body: string): Promise<string> {
  const answer = await client.send(key, { method: 'POST', path: '/v1/pets', body });
  if (answer.status !== 201) throw new Error(`not added: ${answer.status} ${answer.body}`);
  return idsIn(answer.body)[0]!;
}

/** Ids as they stand in the text, digit by digit. */
function idsIn(body: string): string[] {
  return [...body.matchAll(/"id":(\d+)/g)].map(([, id]) => id!);
}

t.test(
  'following next alone shows every pet that was there at the start exactly once, while more are added',
  async (t) => {
    const store = await openStore(t);
    const old = new Set<string>();
    for (let n = 0; n < AT_START; n += 50) {
      const ids = await Promise.all(
        Array.from({ length: 50 }, (_, m) => add(store, `{"name":"old ${n + m}","categoryId":${n + m}}`)),
      );
      for (const id of ids) old.add(id);
    }
    t.equal(old.size, AT_START, 'every pet got an id of its own');

    const met: string[] = [];
    const adding: Promise<string>[] = [];
    let path: string | undefined = '/v1/pets?limit=100';
    let pages = 0;
    while (path !== undefined) {
      for (let n = 0; n < 5 && adding.length < ADDED; n += 1) adding.push(add(store, '{"name":"new","categoryId":1}'));
      const answer = await store.client.send(store.key, { path });
      t.equal(answer.status, 200);
      met.push(...idsIn(answer.body));
      pages += 1;
      path = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
    }
    const added = new Set(await Promise.all(adding));
    t.equal(added.size, ADDED, 'and so did those added in between');
    t.equal(met.filter((id) => old.has(id)).length, AT_START, 'every old pet was met');
    t.equal(new Set(met).size, met.length, 'none was met twice');
    t.ok(
      met.every((id) => old.has(id) || added.has(id)),
      'and no other',
    );
    t.comment(`${pages} pages, ${met.length - AT_START} of the ${ADDED} new pets among them`);
  },
);

t.test('an int64 goes in and comes out digit by digit', async (t) => {
  const store = await openStore(t);
  for (const digits of ['9007199254740993', '9223372036854775807', '-9223372036854775808', '0']) {
    const id = await add(store, `{"name":"x","categoryId":${digits}}`);
    for (const path of ['/v1/pets?limit=100', `/v1/pets/${id}`]) {
      const { status, body } = await store.client.send(store.key, { path });
      t.equal(status, 200);
      t.match(body, new RegExp(`"categoryId":${digits}[,}]`), `${digits} from ${path}`);
    }
  }
});

const MIB = 1_048_576;
/** Each body the service must not take: what is sent, the status, the code, and what the message has to name. */
const BAD_BODIES: Readonly<
  Record<
    string,
    readonly [body: string | Buffer | undefined, status: number, code: string, names: RegExp, contentType?: string]
  >
> = {
  'categoryId one too large': ['{"name":"x","categoryId":9223372036854775808}', 400, 'invalid_body', /categoryId/],
  'categoryId a fraction': ['{"name":"x","categoryId":1.5}', 400, 'invalid_body', /categoryId/],
  'categoryId a text': ['{"name":"x","categoryId":"1"}', 400, 'invalid_body', /categoryId/],
  'categoryId null': ['{"name":"x","categoryId":null}', 400, 'invalid_body', /categoryId/],
  'categoryId true': ['{"name":"x","categoryId":true}', 400, 'invalid_body', /categoryId/],
  'no categoryId': ['{"name":"x"}', 400, 'invalid_body', /categoryId/],
  'no name': ['{"categoryId":1}', 400, 'invalid_body', /name/],
  'an odd status': ['{"name":"x","categoryId":1,"status":"eaten"}', 400, 'invalid_body', /status/],
  'a field twice': ['{"name":"x","categoryId":1,"categoryId":2}', 400, 'invalid_body', /categoryId/],
  'an unknown field': ['{"name":"x","categoryId":1,"colour":"red"}', 400, 'invalid_body', /colour/],
  'not JSON': ['name=x&categoryId=1', 400, 'invalid_body', /JSON/],
  'broken UTF-8': [
    Buffer.from([...Buffer.from('{"name":"'), 0xc3, 0x28, ...Buffer.from('","categoryId":1}')]),
    400,
    'invalid_body',
    /UTF-8/,
  ],
  '100,000 nested brackets': ['['.repeat(100_000), 400, 'invalid_body', /JSON/],
  '100,000 brackets in a field': [
    `{"name":"x","categoryId":${'['.repeat(100_000)}`,
    400,
    'invalid_body',
    /JSON|categoryId/,
  ],
  'over 1 MiB': [
    `{"name":"${'x'.repeat(MIB)}","categoryId":1}`,
    413,
    'body_too_large',
    /larger than the 1MiB that this operation takes/,
  ],
  'no body': [undefined, 400, 'invalid_body', /JSON|body/],
  'a wrong content type': [
    '{"name":"x","categoryId":1}',
    415,
    'unsupported_media_type',
    /application\/json/,
    'text/plain',
  ],
};

t.test('a bad body is refused with the field named, and loses nothing', async (t) => {
  const store = await openStore(t);
  const { client, key } = store;
  await add(store, '{"name":"the only one","categoryId":7,"status":"sold"}');
  const list = async (): Promise<string> => (await client.send(key, { path: '/v1/pets?limit=100' })).body;
  const before = await list();
  for (const [name, [body, status, code, names, contentType]] of Object.entries(BAD_BODIES)) {
    const answer = await client.send(key, {
      method: 'POST',
      path: '/v1/pets',
      ...(body === undefined ? {} : { body }),
      ...(contentType === undefined ? {} : { headers: { 'content-type': contentType } }),
    });
    t.equal(answer.status, status, `${name}: ${status}`);
    t.equal(codeOf(answer), code, `${name}: ${code}`);
    t.match((JSON.parse(answer.body) as { message: string }).message, names, `${name}: the message names it`);
    checkHonest(t, answer, name);
    t.equal(await list(), before, `${name}: the catalogue is as it was`);
  }
});
