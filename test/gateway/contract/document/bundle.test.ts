import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadContract } from '../../../../src/gateway/contract/load.js';

const ROOT = `openapi: 3.0.3
paths:
  /pets/{petId}: { $ref: paths/pet.yaml }
  /cats/{petId}: { $ref: 'paths/pet.yaml', x-petgate: { cost: 3 } }
  /dogs: { get: { operationId: listDogs, parameters: [{ $ref: 'paths/../shared.json#/limit' }] } }
components:
  schemas:
    Kind: { enum: [cat, dog] }
`;
const PET = `x-petgate: { scope: 'pets:read' }
get:
  operationId: getPet
  parameters: [{ $ref: '../shared.json#/petId' }]
  responses: { '200': { description: ok, content: { application/json: { schema: { $ref: '../shared.json#/Pet' } } } } }
`;
const SHARED = JSON.stringify({
  petId: { name: 'petId', in: 'path', required: true, schema: { $ref: '#/id' } },
  id: { type: 'integer', minimum: 1 },
  limit: { name: 'limit', in: 'query', schema: { $ref: 'https://schemas.test/limit.json' } },
  Pet: { properties: { mother: { $ref: '#/Pet' }, kind: { $ref: 'openapi.yaml#/components/schemas/Kind' } } },
});

t.test('references lead into other files of the folder, in circles too, and back', (t) => {
  const folder = t.testdir({ 'openapi.yaml': ROOT, 'shared.json': SHARED, paths: { 'pet.yaml': PET } });
  const { routes, document, files, warnings } = loadContract(join(folder, 'openapi.yaml'));
  t.match(routes.operations, [
    { id: 'GET /pets/{petId}', cost: 1, scope: 'pets:read', parameters: [{ schema: { minimum: 1 } }] },
    { id: 'GET /cats/{petId}', cost: 3, scope: 'pets:read' },
    { id: 'listDogs' },
  ]);
  t.same(
    files,
    ['openapi.yaml', 'shared.json', 'paths/pet.yaml'].map((name) => join(folder, name)),
  );
  t.equal(warnings.length, 2, 'an id that stands twice, and nothing else');
  const served = document.toString();
  t.notMatch(served, /x-petgate|\.yaml#|\.json#[^"]*\.json/);
  t.match(served, '"$ref":"#/x-files/shared.json/Pet"');
  t.match(served, '"$ref":"#/components/schemas/Kind"', 'what the document itself has stays there');
  t.match(served, '"$ref":"https://schemas.test/limit.json"', 'nothing is fetched');
  t.end();
});

t.test('nothing outside of the folder is read, and what is missing is no reason not to serve the rest', (t) => {
  const secret = 'get: { operationId: secret }';
  const folder = t.testdir({
    'secret.yaml': secret,
    api: {
      'openapi.yaml': `openapi: 3.1.0
paths:
  /a: { get: { operationId: a, x-one: { $ref: ../secret.yaml }, x-two: { $ref: none.yaml }, x-three: { $ref: . } } }
`,
      'linked.yaml': t.fixture('symlink', '../secret.yaml'),
      'strict.yaml': 'openapi: 3.1.0\npaths: { /a: { $ref: linked.yaml } }\n',
    },
  });
  const { document, warnings } = loadContract(join(folder, 'api/openapi.yaml'));
  t.equal(warnings.length, 3);
  for (const name of [/\.\.\/secret\.yaml is no file/, /none\.yaml is no file/, /: \. is no file/])
    t.ok(warnings.some((warning) => name.test(warning)));
  t.notMatch(document.toString(), /operationId":"secret/);
  t.throws(() => loadContract(join(folder, 'api/strict.yaml')), /linked\.yaml leads to no path/);
  t.end();
});

t.test('a referenced file with a mistake is named with its line', (t) => {
  const folder = t.testdir({
    'openapi.yaml': 'openapi: 3.1.0\npaths: { /a: { $ref: a.yaml } }\n',
    'a.yaml': 'get: {\n  a: 1,\n  a: 2 }\n',
  });
  t.throws(() => loadContract(join(folder, 'openapi.yaml')), /a\.yaml:3:3: .*twice/);
  t.end();
});

t.test('an anchor that is used twice makes two values', (t) => {
  const folder = t.testdir({
    'openapi.yaml': `openapi: 3.1.0
paths:
  /a: &a { get: &get { summary: one } }
  /b: *a
  /c: { get: { <<: *get, x-petgate: { cost: 5 } } }
`,
    'policy.yaml': `overlay: 1.0.0
actions: [{ target: "$.paths['/a'].get", update: { operationId: first } }]
`,
  });
  const { routes } = loadContract(join(folder, 'openapi.yaml'), { overlays: [join(folder, 'policy.yaml')] });
  t.match(routes.operations, [{ id: 'first' }, { id: 'GET /b' }, { id: 'GET /c', cost: 5 }]);
  t.end();
});

t.test('an operation that is a reference is served as what it leads to, with its scope and cost', (t) => {
  // As DigitalOcean's own document has all of its operations.
  const folder = t.testdir({
    'openapi.yaml': `openapi: 3.0.0
paths:
  /v2/actions:
    get: { $ref: resources/list.yml }
    post: { $ref: resources/create.yml, x-petgate: { cost: 2 } }
    put: { $ref: '#/components/x-operations/none' }
`,
    resources: {
      'list.yml': "{ operationId: list, security: [], tags: [a], parameters: [{ $ref: '../shared.yml#/page' }] }",
      'create.yml':
        "operationId: create\nx-petgate: { scope: 'actions:write', cost: 9 }\nrequestBody: { content: {} }\n",
    },
    'shared.yml': 'page: { name: page, in: query }\n',
  });
  const path = join(folder, 'openapi.yaml');
  t.throws(() => loadContract(path), /:6:18: paths\.\/v2\/actions\.put\.\$ref: .* leads to no operation/);
  const overlay = join(folder, 'policy.yaml');
  writeFileSync(overlay, 'overlay: 1.0.0\nactions: [{ target: "$.paths[\'/v2/actions\'].put", remove: true }]\n');
  const { routes, document } = loadContract(path, { overlays: [overlay] });
  t.match(routes.operations, [
    { id: 'list', secured: false, tags: ['a'], hasBody: false },
    { id: 'create', scope: 'actions:write', cost: 2, hasBody: true },
  ]);
  t.match(document.toString(), '"get":{"operationId":"list"');
  t.end();
});
