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
  return loadContract(path, { upstreams: { pets: { deadline: 15_000 } } });
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
    ['deprecation', 'sunset'].map((relation) => `</docs?operation=getPet>; rel="${relation}"`).join(', ') +
      ', </v1/pets>; rel="successor-version"',
  ]);
  t.equal(operations.get('getPet')?.sunsetAtMs, Date.UTC(2030, 11, 5));
  t.same(operations.get('listOrders')?.headers, ['X-Stability', 'experimental']);
  t.same(operations.get('listPets')?.headers, []);
  t.equal(operations.get('listPets')?.sunsetAtMs, null);
  t.end();
});

t.test('the served document is the file, as JSON, with paths in full', (t) => {
  const document = JSON.parse(loadContract().document.toString()) as { openapi: string; paths: object };
  t.equal(document.openapi, '3.1.0');
  for (const path of Object.keys(document.paths))
    t.match(readFileSync(join(packageRoot, 'config/openapi.yaml'), 'utf8'), `\n  ${path.replace(/^\/v1/, '')}:\n`);
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
  const silent = load(t, SOUND.replace(/^security.*\n/m, ''));
  t.ok(
    silent.routes.operations.every(({ secured }) => secured),
    'who says nothing of it wants a key',
  );
  t.end();
});

t.test('what a document leaves out has a default', (t) => {
  const { routes, warnings } = load(t, 'openapi: 3.1.0\npaths: { /pets: { get: {} } }\n');
  t.match(routes.operations, [
    { id: 'GET /pets', path: '/pets', upstream: 'default', cost: 1, scope: null, stability: null, secured: true },
  ]);
  t.match(warnings, [/no upstream "default": 1 operation answers 501/]);
  t.end();
});

t.test('policy: the operation over its path over the document, field by field', (t) => {
  const { routes } = load(
    t,
    `openapi: 3.1.0
x-petgate: { upstream: pets, cost: 2, scope: 'pets:read', deadline: 5s, body_size: 5GiB, websocket: true }
paths:
  /a:
    x-petgate: { cost: 3, stability: beta }
    get: { x-petgate: { scope: null } }
    post: { requestBody: {}, x-petgate: { body_size: 1KiB } }
  /b:
    get: { x-petgate: { upstream: gateway, cost: 0 } }
`,
  );
  t.match(routes.operations, [
    {
      id: 'GET /a',
      upstream: 'pets',
      cost: 3,
      scope: null,
      stability: 'beta',
      deadlineMs: 5_000,
      bodyBytes: 5 * 2 ** 30,
    },
    { id: 'POST /a', cost: 3, scope: 'pets:read', headers: ['X-Stability', 'beta'], bodyBytes: 1024 },
    { id: 'GET /b', cost: 0, scope: null, deadlineMs: null, bodyBytes: null },
  ]);
  t.end();
});

t.test('what can be lived with is a warning with its place, and the rest is served', (t) => {
  const { routes, warnings } = load(
    t,
    `openapi: 3.2.0
servers: [{ url: /v1 }, { url: /v2 }]
x-petgate: { upstream: pets }
paths:
  /a#b: { get: {} }
  /a?b: { get: {} }
  a: { get: {} }
  x-ours: 1
  /c:
    get: { responses: 7 }
    trace: {}
    additionalOperations: { COPY: {}, TRACE: {}, 'a b': {} }
    whatever: {}
  /d/{d}: { get: { parameters: [{ $ref: '#/nowhere' }, { name: d, in: path, schema: { type: object } }] } }
  /d/{e}: { get: {} }
  /e é%2a%7E/{e é}: { get: { parameters: [{ name: e é, in: path, schema: { type: integer } }] } }
`,
  );
  t.same(
    routes.operations.map(({ id, path }) => [id, path]),
    [
      ['GET /c', '/v1/c'],
      ['COPY /c', '/v1/c'],
      ['GET /d/{d}', '/v1/d/{d}'],
      ['GET /e é%2a%7E/{e é}', '/v1/e%20%C3%A9%2A~/{e é}'],
    ],
  );
  const said = [
    /:2:10: servers: these servers differ in their path; that of the first holds, \/v1: base_path/,
    /:5:3: paths\.\/a#b: .*left out/,
    /:6:3: paths\.\/a\?b: .*left out/,
    /:7:3: paths\.a: .*left out/,
    /:11:5: paths\.\/c\.trace: left out/,
    /:12:39: paths\.\/c\.additionalOperations\.TRACE: left out/,
    /:12:50: paths\.\/c\.additionalOperations\.a b: left out: no request may have this method/,
    /:14:13: paths\.\/d\/\{d\}\.get: \{d\} can't be held to a schema: type object/,
    /:15:13: paths\.\/d\/\{e\}\.get: \{e\} can't be held to a schema: it has no schema/,
    /:15:13: paths\.\/d\/\{e\}\.get: left out: no request would come here; \/d\/\{d\} is the same path/,
  ];
  t.equal(warnings.length, said.length, warnings.join('\n'));
  for (const [index, expected] of said.entries()) t.match(warnings[index], expected);
  t.end();
});

t.test('settings name another base path than the servers do; paths and operations keep servers of their own', (t) => {
  const path = join(t.testdir({}), 'openapi.yaml');
  writeFileSync(
    path,
    `openapi: 3.0.3
servers: [{ url: /v1 }, { url: /v2 }]
paths:
  /a: { get: {} }
  /b: { servers: [{ url: / }], get: {}, put: { servers: [{ url: 'https://up.test/in' }] } }
`,
  );
  const { routes, warnings, document } = loadContract(path, { base_path: '/api' });
  t.same(
    routes.operations.map((operation) => operation.path),
    ['/api/a', '/b', '/in/b'],
  );
  t.same(warnings, []);
  const { servers, paths } = JSON.parse(document.toString()) as Record<string, unknown>;
  t.strictSame(servers, [{ url: '/' }]);
  t.strictSame(paths, { '/api/a': { get: {} }, '/b': { get: {} }, '/in/b': { put: {} } }, 'as they are asked for');
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
    /the gateway serves this itself/,
  ],
  [
    'a body of no size',
    'stability: null',
    'stability: null, body_size: 0B',
    '8:91 paths./pets/{petId}.get.x-petgate.body_size',
    /must be a size with its unit .* from 1B to 100TiB/,
  ],
  [
    'a body of the gateway',
    'upstream: pets, cost: 1, scope: pets:read, stability: null',
    'upstream: gateway, cost: 1, scope: pets:read, stability: null, body_size: 1KiB',
    '8:94 paths./pets/{petId}.get.x-petgate.body_size',
    /the gateway serves this itself/,
  ],
  [
    'a sunset that is no time',
    '      operationId: getPet',
    "      operationId: getPet\n      deprecated: true\n      x-sunset: '5 December 2030'",
    '9:17 paths./pets/{petId}.get.x-sunset',
    /2030-12-05T00:00:00Z/,
  ],
  [
    'a link that breaks out of its header',
    '      operationId: getPet',
    '      operationId: getPet\n      x-links: { sunset: "/a>\\r\\nX-Evil: 1" }',
    '8:26 paths./pets/{petId}.get.x-links.sunset',
    /without spaces/,
  ],
  ['a version of OpenAPI to come', '3.1.0', '4.0.0', '1:10 openapi', /3\.0, 3\.1 or 3\.2/],
  [
    'no policy',
    /x-petgate: .*pets:read.*/,
    'x-petgate: 7',
    '8:18 paths./pets/{petId}.get.x-petgate',
    /mapping such as/,
  ],
  [
    'an operation that is none',
    '    get:',
    '    put: 7\n    get:',
    '6:10 paths./pets/{petId}.put',
    /must be a mapping/,
  ],
  ['a path that is none', '  /pets:', '  /more: 7\n  /pets:', '10:10 paths./more', /mapping of methods/],
  [
    'a path that stands nowhere',
    '  /pets:',
    "  /more: { $ref: '../other.yaml' }\n  /pets:",
    '10:18 paths./more.$ref',
    /leads to no path; only files in the folder/,
  ],
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
