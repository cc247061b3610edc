import fc from 'fast-check';
import t from 'tap';
import { INTERNAL_TOKEN } from '../servers/gateway.js';
import { startUpstream } from '../servers/upstream.js';
import { foreignSettings, isOffered, OFFERS } from './foreign.js';
import { request, startFront } from './front.js';

const RUNS = 2_000;
const AT_ONCE = 50;

/** Texts that some server somewhere reads as another path than they seem to be. */
const odd = fc.constantFrom(
  ...['', '.', '..', '%2e%2e', '.%2E', '%2f', 'a%2Fb', '..%2fadmin', '%5c..', 'admin', '%61dmin', 'ADMIN', ';', '..;'],
  ...['%00', '%0a', '%', '%zz', '%C3', '%C3%A9', 'gr%C3%BCn', 'gru%CC%88n', '\u00e9', '*', '~', "'", '{id}', ':', '*'],
  ...['1', '01', '-1', '0', '1.0', '1e3', '99999999999999999999', '%31', '1%20', '1;x=1', '1,2', 'true', 'null', 'a,b'],
  ...[
    'users',
    'versions',
    'colours',
    'compare',
    'reports',
    'avatar',
    'secret',
    'bob:verify',
    ':verify',
    'v1',
    'v0',
    'v',
  ],
  ...['a...b', '...', '....', 'a...b...c', 'a..b', '.....', 'red', 'Red', 'red.json', 'red/', 'red%20'],
);
const FITTING = ['1', 'bob', 'v1', 'v0x', 'red', 'gr%C3%BCn', 'a'];
const fitting = fc.constantFrom(...FITTING);
/** So many that one of each operation is good. */
const GOOD = OFFERS.flatMap(({ method, path }) =>
  FITTING.map((text): [[string, string], string] => [[method, path.replaceAll(/\{[^{}]*\}/g, text)], '']),
);
const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE');
const target = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.tuple(
      method,
      fc.array(odd, { minLength: 1, maxLength: 5 }).map((all) => `/${all.join('/')}`),
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(...OFFERS), fc.option(method, { freq: 2 }), fc.oneof(odd, fitting), fc.oneof(odd, fitting))
      .map(([offer, other, ...texts]): [string, string] => [
        other ?? offer.method,
        offer.path.replaceAll(/\{[^{}]*\}/g, () => texts.shift()!),
      ]),
  },
);
const suffix = fc.constantFrom('', '', '?q=1', '/', '//', '/..', '/.', '%2f', '#x', '?/../admin', ';x', '.json', '%20');

/** Fields by which some servers do another operation than the request line says. */
const OVERRIDES = [
  'X-HTTP-Method-Override: DELETE',
  'X-HTTP-Method: DELETE',
  'X-Method-Override: DELETE',
  'x_http_method_override: DELETE',
  'X-Original-Method: DELETE',
  'X-Original-URL: /admin/1',
  'X-Original-URI: /admin/1',
  'X-Rewrite-URL: /admin/1',
  'X-Override-URL: /admin/1',
  'X-Forwarded-Uri: /admin/1',
  'X-Forwarded-Path: /admin/1',
];

const upstream = await startUpstream(t);
const foreign = foreignSettings(t);
const front = await startFront(t, upstream.url, { config: { log: { access: false } }, foreign });

/**
 * The attack: an API whose document leaves out what its server can do, and hides more by an overlay. Whatever path and
 * method a client with a good key comes by, only what is offered gets there; what says so by hand, and slowly, is
 * `isOffered`.
 */
t.test(`${RUNS} requests to a foreign API: nothing that isn't in the document reaches the upstream`, async (t) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
  t.comment(`seed ${seed}; repeat with SEED=${seed}`);
  const asked = [...GOOD, ...fc.sample(fc.tuple(target, suffix), { numRuns: RUNS, seed })];
  const statuses = new Map<number, number>();
  const ask = async (): Promise<void> => {
    for (let next = asked.pop(); next !== undefined; next = asked.pop()) {
      const [[verb, where], more] = next;
      const line = `${verb} ${where}${more}`;
      const message = /^P/.test(verb) ? `${request(line, front.key, 'Content-Length: 2')}{}` : request(line, front.key);
      const { status } = await front.send(Buffer.from(message, 'latin1'));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  t.comment(`answers by status: ${JSON.stringify([...statuses])}`);
  for (const { method: verb, url, rawHeaders } of upstream.seen) {
    if (!isOffered(verb, url.split('?')[0]!)) t.fail('it is not offered', { verb, url });
    if (rawHeaders.join('\n').includes(INTERNAL_TOKEN)) t.fail('our token is for our upstreams', { rawHeaders });
  }
  t.equal(upstream.seen.length, statuses.get(200), 'nor did the gateway ask anything by itself');
  t.ok(upstream.seen.length > RUNS / 50, 'good requests are among them');
  const met = OFFERS.filter((offer) =>
    upstream.seen.some((seen) => seen.method === offer.method && offer.looks.test(seen.url.split('?')[0]!)),
  );
  t.same(met, OFFERS, 'of every operation');
  t.notOk(
    [...statuses.keys()].some((status) => status >= 500),
    'and nothing broke',
  );
});

t.test('what a field asks for instead of the request line is not passed on', async (t) => {
  upstream.seen.length = 0;
  const body = ['Content-Type: application/json', 'Content-Length: 2'];
  for (const field of OVERRIDES) {
    const { status } = await front.send(`${request('POST /reports', front.key, field, ...body)}{}`);
    t.equal(status, 200, field);
  }
  t.equal(upstream.seen.length, OVERRIDES.length);
  for (const { method: verb, url, rawHeaders } of upstream.seen) {
    t.same([verb, url], ['POST', '/reports']);
    t.notMatch(rawHeaders.join('\n'), /DELETE|admin/);
  }
});
