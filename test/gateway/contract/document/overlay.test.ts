import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import type { ConfigError } from '../../../../src/gateway/config/files/problem.js';
import { loadContract } from '../../../../src/gateway/contract/load.js';

const DOCUMENT = `openapi: 3.0.3
tags: [{ name: pets }]
paths:
  /pets:
    get: { operationId: listPets, tags: [pets] }
    delete: { operationId: dropPets }
  "/it's \\"\\\\": { get: { operationId: odd } }
  /old: { get: { operationId: old } }
`;

function load(t: Test, ...overlays: readonly string[]): ReturnType<typeof loadContract> {
  const names = overlays.map((_, index) => `${index + 1}.yaml`);
  const files = Object.fromEntries(overlays.map((text, index) => [names[index]!, `overlay: 1.0.0\nactions:\n${text}`]));
  const folder = t.testdir({ 'openapi.yaml': DOCUMENT, ...files });
  return loadContract(join(folder, 'openapi.yaml'), {
    overlays: names.map((name) => join(folder, name)),
    upstreams: { default: { deadline: 1_000 } },
  });
}

t.test('overlays price, scope, deprecate and remove, in their order', (t) => {
  const { routes, document, warnings, files } = load(
    t,
    `  - { target: $, update: { x-petgate: { scope: 'pets:read' }, tags: [{ name: more }] } }
  - { target: "$.paths['/pets'].get", update: { x-petgate: { cost: 5 }, tags: [more] } }
  - { target: "$.paths['/pets'].get.tags", update: last }
  - { target: $.paths..delete, remove: true }
`,
    `  - { target: "$.paths['/pets'].get", update: { x-petgate: { cost: 7 } } }
  - { target: $.paths.*.get, update: { deprecated: true, x-deprecated-at: '2026-01-01', x-sunset: '2030-12-05' } }
  - { target: "$.paths['/it\\\\'s \\"\\\\\\\\']", update: { x-petgate: { cost: 2 } } }
  - { target: "$.paths[?@.get.operationId == 'old']", remove: true }
  - { target: "$.paths['/gone']", update: { get: {} } }
`,
  );
  t.match(routes.operations, [
    {
      id: 'listPets',
      cost: 7,
      scope: 'pets:read',
      sunsetAtMs: Date.UTC(2030, 11, 5),
      headers: ['Deprecation', '@1767225600', 'Sunset', 'Thu, 05 Dec 2030 00:00:00 GMT'],
    },
    { id: 'odd', cost: 2 },
  ]);
  t.equal(routes.operations.length, 2);
  t.match(warnings, [/2\.yaml:7:15: actions\.4\.target: \$\.paths\['\/gone'\] matches nothing$/]);
  t.equal(warnings.length, 1);
  t.equal(files.length, 3);
  const served = JSON.parse(document.toString()) as {
    tags: unknown;
    paths: Record<string, { get: { tags: unknown } }>;
  };
  t.same(served.tags, [{ name: 'pets' }, { name: 'more' }]);
  t.same(served.paths['/pets']?.get.tags, ['pets', 'more', 'last']);
  t.notOk('/old' in served.paths);
  t.end();
});

t.test('what overlays remove stays closed: whole paths, and those that keep no operation', (t) => {
  const folder = t.testdir({
    'openapi.yaml': `openapi: 3.1.0
servers: [{ url: /v1 }]
paths:
  /{page}: { get: {}, delete: {} }
  /audit: { get: {} }
  /keys: { parameters: [], get: {}, post: {} }
  /stay: { get: {}, post: {} }
  /own: { servers: [{ url: /v2 }], get: {} }
  /v2/{page}: { servers: [{ url: / }], get: {} }
  /moved: { get: { servers: [{ url: /v3 }] } }
`,
    '1.yaml': `overlay: 1.0.0
actions:
  - { target: "$.paths['/audit']", remove: true }
  - { target: "$.paths['/own']", remove: true }
  - { target: "$.paths['/moved']", remove: true }
  - { target: "$.paths['/stay'].post", remove: true }
`,
    '2.yaml': `overlay: 1.0.0
actions:
  - { target: "$.paths['/keys'].get", remove: true }
  - { target: "$.paths['/keys'].post", remove: true }
`,
  });
  const contract = loadContract(join(folder, 'openapi.yaml'), {
    overlays: ['1.yaml', '2.yaml'].map((name) => join(folder, name)),
  });
  const found = (path: string, method = 'GET'): string => contract.routes.match(method, path).kind;
  for (const path of ['/v1/audit', '/v1/keys', '/v2/own', '/v1/AUDIT']) t.equal(found(path), 'not_found', path);
  for (const path of ['/v1/other', '/v2/other', '/v1/stay', '/v1/moved']) t.equal(found(path), 'operation', path);
  t.equal(found('/v1/stay', 'POST'), 'method_not_allowed');
  t.same(contract.pathRules.removed, ['/v1/audit', '/v1/keys', '/v2/own', '/v3/moved']);
  t.end();
});

t.test('what the settings have no upstream for is warned of where an overlay says it', (t) => {
  const weather = '  - { target: $.paths.*.get, update: { x-petgate: { upstream: weather } } }';
  t.match(load(t, weather).warnings, [
    /1\.yaml:3:63: paths\.\/pets\.get\.x-petgate\.upstream: the settings have no upstream "weather": 3 operations/,
  ]);
  t.end();
});

const mistakes: readonly (readonly [name: string, action: string, where: string, what: RegExp])[] = [
  ['no JSONPath', '  - { target: paths, remove: true }', '3:15 actions.0.target', /no JSONPath of RFC 9535/],
  ['nothing to do', '  - { target: $ }', '3:15 actions.0.target', /give it update, copy, or remove/],
  ['all of it', '  - { target: $, remove: true }', '3:15 actions.0.target', /whole document/],
  ['text for a mapping', '  - { target: $.paths, update: no }', '3:32 actions.0.update', /mapping both/],
  ['a copy of a list', '  - { target: $.paths, copy: $.tags }', '3:30 actions.0.copy', /mapping both/],
  ['a copy of nothing', '  - { target: $, copy: $.nothing }', '3:24 actions.0.copy', /matches nothing; name one/],
  ['a copy of much', '  - { target: $, copy: $.paths.* }', '3:24 actions.0.copy', /matches 3 places; name one/],
  ['no target', '  - { remove: true }', '3:5 actions.0.target', /missing; must be a JSONPath/],
  [
    'a slip in what it adds',
    "  - target: $.paths['/pets'].get\n    update:\n      x-petgate: { csot: 5 }",
    '5:20 paths./pets.get.x-petgate.csot',
    /did you mean "cost"/,
  ],
  [
    'a deadline beyond its upstream',
    '  - { target: $, update: { x-petgate: { deadline: 1h } } }',
    '3:51 x-petgate.deadline',
    /upstreams\.default\.deadline is 1000 ms/,
  ],
];
for (const [name, action, where, what] of mistakes) {
  t.test(`refused with its place in the overlay: ${name}`, (t) => {
    try {
      load(t, action);
      t.fail('the mistake was not noticed');
    } catch (error) {
      const { problems } = error as ConfigError;
      t.equal(problems.length, 1);
      const [problem] = problems;
      t.equal(`${problem!.line}:${problem!.column} ${problem!.path}`, where);
      t.match(problem!.message, what);
      t.match(problem!.file, /1\.yaml$/);
    }
    t.end();
  });
}

t.test('an overlay that is none is refused', (t) => {
  const folder = t.testdir({ 'openapi.yaml': DOCUMENT, 'a.json': '{"overlay": "2.0.0", "actions": [{"target": 1}]}' });
  t.throws(
    () => loadContract(join(folder, 'openapi.yaml'), { overlays: [join(folder, 'a.json')] }),
    /a\.json:1:13: overlay: must be 1\.0\.0 or 1\.1\.0\n.*a\.json:1:45: actions\.0\.target: must be a JSONPath/,
  );
  t.end();
});

t.test('Overlay 1.1 copies one place to others, and replaces single values', (t) => {
  const folder = t.testdir({
    'openapi.yaml': DOCUMENT,
    'a.yaml': `overlay: 1.1.0
actions:
  - { target: $.paths, update: { /dogs: {} } }
  - { target: "$.paths['/dogs']", copy: "$.paths['/pets']" }
  - { target: "$.paths['/dogs'].get.operationId", update: listDogs }
  - { target: "$.paths['/dogs'].delete", remove: true }
  - { target: "$.paths['/old'].get", update: { tags: [] } }
  - { target: "$.paths['/old'].get.tags", copy: "$.paths['/pets'].get.tags" }
`,
  });
  const { routes, warnings } = loadContract(join(folder, 'openapi.yaml'), { overlays: [join(folder, 'a.yaml')] });
  t.match(routes.match('GET', '/dogs'), { operation: { id: 'listDogs', tags: ['pets'] } });
  t.match(routes.match('GET', '/pets'), { operation: { id: 'listPets' } }, 'what was copied stays');
  t.match(routes.match('DELETE', '/pets'), { operation: { id: 'dropPets' } });
  t.equal(routes.match('DELETE', '/dogs').kind, 'method_not_allowed');
  t.match(routes.match('GET', '/old'), { operation: { tags: ['pets'] } });
  t.same(warnings, []);
  t.end();
});
