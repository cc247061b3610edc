import t from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import { startGateway } from '../servers/gateway.js';
import { startPets } from '../servers/pets.js';
import type { RawAnswer } from '../servers/raw.js';
import { openClient } from './client.js';

const pets = await startPets(t);
const gateway = await startGateway(t, { environment: { PETS_URL: pets.url } });
const { key } = await gateway.createKey({ plan: 'pro' });
const client = openClient(t, gateway.url, 1);
const add = (body: string, headers = {}): Promise<RawAnswer> =>
  client.send(key, { method: 'POST', path: '/v1/pets', body, headers });

t.test('pets go through the gateway and back digit by digit, and next leads to each of them once', async (t) => {
  const extremes = ['9007199254740993', '9223372036854775807', '-9223372036854775808', '0'];
  for (const digits of extremes) {
    const { status, body, headers } = await add(`{"name":"x","categoryId":${digits}}`);
    t.equal(status, 201);
    t.match(body, new RegExp(`"categoryId":${digits}[,}]`));
    t.equal((await client.send(key, { path: headers.get('location') ?? '' })).body, body);
  }
  const met: string[] = [];
  for (let path: string | undefined = '/v1/pets?limit=3'; path !== undefined;) {
    const { body, headers } = await client.send(key, { path });
    met.push(...[...body.matchAll(/"categoryId":(-?\d+)/g)].map(([, digits]) => digits!));
    path = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
  }
  t.same(met, extremes);
});

t.test('what the service says of a bad body arrives as its own Error, with honest figures', async (t) => {
  const list = async (): Promise<string> => (await client.send(key, { path: '/v1/pets?limit=100' })).body;
  const before = await list();
  for (const [name, answer, status, code, says] of [
    ['a field', await add('{"name":"x","categoryId":1.5}'), 400, 'invalid_body', /categoryId/],
    ['not JSON', await add('name=x&categoryId=1'), 400, 'invalid_body', /JSON/],
    ['brackets', await add('['.repeat(100_000)), 400, 'invalid_body', /JSON/],
    ['too large', await add('x'.repeat(2 ** 20 + 1)), 413, 'body_too_large', /the 1MiB that this operation takes/],
    ['text', await add('{}', { 'content-type': 'text/plain' }), 415, 'unsupported_media_type', /application\/json/],
  ] as const) {
    t.equal(answer.status, status, name);
    t.equal(codeOf(answer), code, name);
    t.match((JSON.parse(answer.body) as { message: string }).message, says, name);
    checkHonest(t, answer, name);
  }
  t.equal(await list(), before, 'nothing was added');
});
