import t from 'tap';
import { REFUSALS } from '../../src/gateway/refusal.js';
import { request } from '../attacks/front.js';
import { startGateway } from '../servers/gateway.js';
import { exchangeRaw, type RawAnswer } from '../servers/raw.js';
import { startUpstream } from '../servers/upstream.js';
import { checkHonest } from './honest.js';
import { PLANS } from './plans.js';

const ACCEPT = 'Accept: application/problem+json, application/json';

t.test('where the settings say problem, every refusal is one', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    plans: PLANS,
    config: { errors: 'problem', upstreams: { pets: { addresses: [upstream.url] } } },
  });
  const [wide, tight] = [await gateway.createKey({ plan: 'wide' }), await gateway.createKey({ plan: 'tiny' })];
  const ask = async (bytes: string): Promise<RawAnswer> => (await exchangeRaw(gateway.target, bytes, 1))[0]!;
  for (const [code, bytes] of [
    ['missing_api_key', request('GET /v1/pets')],
    ['not_found', request('GET /v1/cats', `Authorization: Bearer ${wide.key}`)],
    ['method_not_allowed', request('PUT /v1/pets', `Authorization: Bearer ${wide.key}`)],
    // Node's parser refuses it: there is no exchange yet.
    ['malformed_request', 'GET / HTTP/1.1\r\nHost: x\r\nodd field\r\n\r\n'],
  ] as const) {
    const answer = await ask(bytes);
    t.equal(answer.status, REFUSALS[code].status, code);
    t.equal(answer.headers.get('content-type'), 'application/problem+json');
    t.match(JSON.parse(answer.body), {
      type: `/docs#${code}`,
      status: answer.status,
      code,
      instance: answer.headers.get('x-request-id'),
    });
  }
  const limited = request('GET /v1/pets', `Authorization: Bearer ${tight.key}`);
  await ask(limited);
  t.match(JSON.parse((await ask(limited)).body), {
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    'violated-policies': ['minute'],
  });
  const head = await fetch(`${gateway.url}/v1/cats`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${wide.key}` },
  });
  t.equal(head.status, 404);
  t.equal(head.headers.get('content-type'), 'application/problem+json');
  t.ok(Number(head.headers.get('content-length')) > 0, 'HEAD says how long the body of GET is');
  const docs = await ask(request('GET /docs'));
  for (const code of Object.keys(REFUSALS)) t.ok(docs.body.includes(`id="${code}"`), `/docs explains ${code}`);
});

t.test('else a client that accepts problems gets one, and nobody else', async (t) => {
  const gateway = await startGateway(t, { plans: PLANS });
  const ask = async (...fields: string[]): Promise<RawAnswer> =>
    (await exchangeRaw(gateway.target, request('GET /v1/pets', ...fields), 1))[0]!;
  const plain = await ask('Accept: */*');
  checkHonest(t, plain, 'Error');
  t.notOk(plain.headers.has('vary'));
  const problem = await ask(ACCEPT);
  t.equal(problem.headers.get('content-type'), 'application/problem+json');
  t.equal(problem.headers.get('vary'), 'Accept');
});
