import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { ConfigError } from '../../../src/gateway/config/files/problem.js';
import { loadContract } from '../../../src/gateway/contract/load.js';
import { packageRoot } from '../../../src/shared/package-root.js';

const SOUND = `openapi: 3.1.0
servers: [{ url: '{base}', variables: { base: { default: /v1 } } }]
security: [{ apiKey: [] }]
paths:
  /pets/{petId}:
    get:
      operationId: getPet
      x-petgate: { upstream: pets, cost: 1, scope: pets:read, stability: null }
      parameters: [{ name: petId, in: path, required: true, schema: { type: integer } }]
  /pets:
    post:
      operationId: createPet
      requestBody: { content: {} }
      x-petgate: { upstream: pets, cost: 1, scope: pets:write, stability: beta }
`;

function load(t: Test, text: string): ReturnType<typeof loadContract> {
  const path = join(t.testdir({}), 'openapi.yaml');
  writeFileSync(path, text);
  return loadContract(path, { pets: { deadlineMs: 15_000 } });
}

t.test('the document as shipped gives the operations of the contract', (t) => {
  const { routes } = loadContract();
  const rows = routes.operations.map(({ id, method, path, upstream, cost, secured, scope, hasBody, stability }) => [
    id,
    method,
    path,
    upstream,
    cost,
    secured,
    scope,
    hasBody,
    stability,
  ]);
  t.same(rows, [
    ['listPets', 'GET', '/v1/pets', 'pets', 1, true, 'pets:read', false, null],
    ['createPet', 'POST', '/v1/pets', 'pets', 1, true, 'pets:write', true, null],
    ['getPet', 'GET', '/v1/pets/{petId}', 'pets', 1, true, 'pets:read', false, null],
    ['listOrders', 'GET', '/v1/store/orders', 'store', 1, true, 'orders:read', false, 'experimental'],
    ['getOwnUsage', 'GET', '/v1/usage', 'gateway', 0, true, null, false, null],
    ['getOpenapi', 'GET', '/openapi.json', 'gateway', 0, false, null, false, null],
    ['getDocs', 'GET', '/docs', 'gateway', 0, false, null, false, null],
    ['getDocsFile', 'GET', '/docs/{file}', 'gateway', 0, false, null, false, null],
  ]);
  t.end();
});

t.test('the deprecated operation says since when, until when, and what to use instead', (t) => {
  const { routes } = loadContract();
  const operations = new Map(routes.operations.map((operation) => [operation.id, operation]));
  t.same(operations.get('getPet')?.headers, [
    'Deprecation',
    '@1767225600',
    'Sunset',
    'Thu, 05 Dec 2030 00:00:00 GMT',
    'Link',
    '</docs#/pets/getPet>; rel="deprecation", </docs#/pets/getPet>; rel="sunset", </v1/pets>; rel="successor-version"',
  ]);
  t.equal(operations.get('getPet')?.sunsetAtMs, Date.UTC(2030, 11, 5));
  t.same(operations.get('listOrders')?.headers, ['X-Stability', 'experimental']);
  t.same(operations.get('listPets')?.headers, []);
  t.equal(operations.get('listPets')?.sunsetAtMs, null);
  t.end();
});

t.test('the served document is the file, as JSON', (t) => {
  const document = JSON.parse(loadContract().document) as { openapi: string; paths: object };
  t.equal(document.openapi, '3.1.0');
  for (const path of Object.keys(document.paths))
    t.match(readFileSync(join(packageRoot, 'config/openapi.yaml'), 'utf8'), `\n  ${path}:\n`);
  t.end();
});

t.test('what stands in the document is what is routed', (t) => {
  const { routes } = load(t, SOUND);
  t.match(routes.operations, [
    { id: 'getPet', path: '/v1/pets/{petId}', hasBody: false, secured: true },
    { id: 'createPet', path: '/v1/pets', hasBody: true, headers: ['X-Stability', 'beta'] },
  ]);
  t.end();
});

t.test('the base path is that of the servers, whatever their form', (t) => {
  const bases: readonly (readonly [string, string])[] = [
    ['[{ url: / }]', ''],
    ['[{ url: /v1/ }]', '/v1'],
    ["[{ url: 'https://api.test:8443/a/v1' }]", '/a/v1'],
    [
      "[{ url: 'https://{host}/v{n}', variables: { host: { default: api.test }, n: { default: '1' } } }, { url: /v1 }]",
      '/v1',
    ],
  ];
  for (const [servers, base] of bases) {
    const { routes } = load(t, SOUND.replace(/servers: .*/, `servers: ${servers}`));
    t.equal(routes.operations[0]?.path, `${base}/pets/{petId}`);
  }
  t.end();
});

t.test('who need not authenticate is open to anyone', (t) => {
  const open = (security: string): boolean =>
    !load(t, SOUND.replace('operationId: getPet', `operationId: getPet\n      security: ${security}`)).routes
      .operations[0]!.secured;
  t.ok(open('[]'));
  t.ok(open('[{ apiKey: [] }, {}]'), 'an empty way is none');
  t.notOk(open('[{ apiKey: [] }]'));
  t.end();
});

/**
 * One mistake each, made in the sound document: what is replaced by what, where the problem is told, and what it says.
 */
/** A list of lists, each nine times the one before. */
const NINEFOLD = Array.from(
  { length: 9 },
  (_, index) => `&${'bcdefghij'[index]!} [${`*${'abcdefghi'[index]!}, `.repeat(9)}]`,
);

const mistakes: readonly (readonly [name: string, from: string | RegExp, to: string, where: string, what: RegExp])[] = [
  [
    'no extension',
    /      x-petgate: .*pets:read.*\n/,
    '',
    '6:5 paths./pets/{petId}.get.x-petgate',
    /^missing; .*upstream, cost, scope, stability/,
  ],
  [
    'half an extension',
    ', scope: pets:read',
    '',
    '8:7 paths./pets/{petId}.get.x-petgate.scope',
    /^missing; .*pets:read/,
  ],
  [
    'a slip in the extension',
    'stability: null',
    'stabilty: null, stability: null',
    '8:63 paths./pets/{petId}.get.x-petgate.stabilty',
    /did you mean "stability"/,
  ],
  [
    'an upstream that is no name',
    'upstream: pets, cost: 1, scope: pets:read',
    'upstream: Pets!, cost: 1, scope: pets:read',
    '8:30 paths./pets/{petId}.get.x-petgate.upstream',
    /lower-case/,
  ],
  [
    'half a cost',
    'cost: 1',
    'cost: 1.5',
    '8:42 paths./pets/{petId}.get.x-petgate.cost',
    /whole number from 0 to 1000000/,
  ],
  [
    'a deadline that is no time',
    'stability: null',
    'stability: null, deadline: 2',
    '8:90 paths./pets/{petId}.get.x-petgate.deadline',
    /must be a duration with its unit/,
  ],
  [
    'a deadline of nothing',
    'stability: null',
    'stability: null, deadline: 0s',
    '8:90 paths./pets/{petId}.get.x-petgate.deadline',
    /must be a duration with its unit/,
  ],
  [
    'a deadline above that of the upstream',
    'stability: null',
    'stability: null, deadline: 1m',
    '8:90 paths./pets/{petId}.get.x-petgate.deadline',
    /upstreams\.pets\.deadline is 15000 ms; say no more than that here, or raise it there/,
  ],
  [
    'a deadline of the gateway',
    'upstream: pets, cost: 1, scope: pets:read, stability: null',
    'upstream: gateway, cost: 1, scope: pets:read, stability: null, deadline: 1s',
    '8:93 paths./pets/{petId}.get.x-petgate.deadline',
    /the gateway answers this itself/,
  ],
  ['no operationId', '      operationId: getPet\n', '', '6:5 paths./pets/{petId}.get.operationId', /^missing; /],
  [
    'an operationId twice',
    'operationId: createPet',
    'operationId: getPet',
    '12:20 paths./pets.post.operationId',
    /line 6 too/,
  ],
  [
    'an operationId the ledger needs itself',
    'operationId: getPet',
    'operationId: unmatched',
    '7:20 paths./pets/{petId}.get.operationId',
    /taken/,
  ],
  [
    'a path twice',
    '  /pets:\n    post:',
    '  /pets/{id}:\n    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]\n    get:',
    '12:5 paths./pets/{id}.get',
    /GET \/v1\/pets\/\{petId\} in line 6 is the same/,
  ],
  [
    'a parameter without a schema',
    /      parameters: .*petId.*\n/,
    '',
    '6:5 paths./pets/{petId}.get',
    /^\{petId\} can't be held to a schema: it has no schema/,
  ],
  [
    'a parameter of a type no path holds',
    '{ type: integer }',
    '{ type: object }',
    '6:5 paths./pets/{petId}.get',
    /^\{petId\} .*type object/,
  ],
  [
    'a number held to what is not checked',
    '{ type: integer }',
    '{ type: integer, multipleOf: 2 }',
    '6:5 paths./pets/{petId}.get',
    /^\{petId\} .*multipleOf/,
  ],
  [
    'a pattern that is none',
    '{ type: integer }',
    "{ type: string, pattern: '(' }",
    '6:5 paths./pets/{petId}.get',
    /^\{petId\} .*no regular expression/,
  ],
  [
    'a reference to nothing',
    '{ type: integer }',
    "{ $ref: '#/components/schemas/PetId' }",
    '6:5 paths./pets/{petId}.get',
    /^\{petId\} .*\$ref/,
  ],
  [
    'servers that differ in their path',
    /servers: .*/,
    'servers: [{ url: /v1 }, { url: /v2 }]',
    '2:10 servers',
    /differ/,
  ],
  ['a server without its variable', /, variables: .*/, ', }, { url: /v1 }]', '2:10 servers', /differ/],
  ['TRACE', '    get:', '    trace:', '6:5 paths./pets/{petId}.trace', /known here: get, head|did you mean/],
  [
    'a sunset that is no time',
    '      operationId: getPet',
    "      operationId: getPet\n      deprecated: true\n      x-sunset: '5 December 2030'",
    '9:17 paths./pets/{petId}.get.x-sunset',
    /2030-12-05T00:00:00Z/,
  ],
  [
    'a sunset of what is not deprecated',
    '      operationId: getPet',
    "      operationId: getPet\n      x-sunset: '2030-12-05T00:00:00Z'",
    '6:5 paths./pets/{petId}.get.deprecated',
    /must be true/,
  ],
  [
    'a link that breaks out of its header',
    '      operationId: getPet',
    '      operationId: getPet\n      x-links: { sunset: "/a>\\r\\nX-Evil: 1" }',
    '8:26 paths./pets/{petId}.get.x-links.sunset',
    /without spaces/,
  ],
  ['a path without its slash', '  /pets:', '  pets:', '10:3 paths.pets', /begin with \//],
  ['OpenAPI 3.0', '3.1.0', '3.0.3', '1:10 openapi', /3\.1/],
  ['a key twice', 'security:', 'openapi: 3.1.0\nsecurity:', '3:1', /twice/],
  ['aliases without bound', 'security:', `x: [&a [1], ${NINEFOLD.join(', ')}]\nsecurity:`, '1:1', /multiply/],
];

for (const [name, from, to, where, what] of mistakes) {
  t.test(`refused with its place: ${name}`, (t) => {
    const broken = SOUND.replace(from, to);
    t.not(broken, SOUND, 'the mistake was made');
    try {
      load(t, broken);
      t.fail('the mistake was not noticed');
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const [problem] = error.problems;
      t.equal(`${problem!.line}:${problem!.column} ${problem!.path}`.trim(), where);
      t.match(problem!.message, what);
      t.match(problem!.file, /openapi\.yaml$/);
    }
    t.end();
  });
}
