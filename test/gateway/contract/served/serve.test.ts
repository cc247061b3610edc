import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { loadContract } from '../../../../src/gateway/contract/load.js';

function load(t: Test, document: object): ReturnType<typeof loadContract> {
  const path = join(t.testdir({}), 'openapi.json');
  writeFileSync(path, JSON.stringify(document));
  return loadContract(path);
}

function served(t: Test, document: object): Record<string, unknown> {
  return JSON.parse(load(t, document).document.toString()) as Record<string, unknown>;
}

t.test('clients read of the gateway and its key, and nothing of our policy', (t) => {
  const document = served(t, {
    openapi: '3.0.3',
    'x-petgate': { cost: 2 },
    servers: [{ url: 'https://inside.test/api' }],
    security: [{ theirs: [] }],
    components: { schemas: { A: {} }, securitySchemes: { theirs: { type: 'apiKey', in: 'query', name: 'k' } } },
    paths: {
      '/a': {
        'x-petgate': { upstream: 'default' },
        get: { 'x-petgate': { cost: 3 }, security: [{ theirs: [] }, { oauth: ['read'] }] },
        post: { security: [{}, { theirs: [] }] },
      },
      '/b#c': { get: {} },
    },
  });
  t.strictSame(document['paths'], { '/api/a': { get: {}, post: { security: [] } } });
  t.strictSame(document['servers'], [{ url: '/' }]);
  t.strictSame(document['security'], [{ apiKey: [] }]);
  t.match(document['components'], {
    schemas: { A: {} },
    securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } },
  });
  t.notMatch(JSON.stringify(document), /x-petgate|inside\.test|theirs/);
  t.end();
});

t.test('a document that is out of shape is refused with its name', (t) => {
  const swagger = { swagger: '2.0', paths: { '/a': { get: { parameters: [{ name: 'a' }] } } } };
  t.throws(() => load(t, swagger), /openapi\.json:1:1: can't be read as an OpenAPI document: /);
  const path = join(t.testdir({}), 'openapi.json');
  const depth = 50_000;
  writeFileSync(path, `{"openapi":"3.1.0","x":${'['.repeat(depth)}${']'.repeat(depth)}}`);
  t.throws(() => loadContract(path), /openapi\.json:1:1: can't be read as an OpenAPI document: /);
  t.end();
});

t.test('what a document says of a bearer key is kept', (t) => {
  const scheme = { type: 'http', scheme: 'Bearer', description: 'Ask Eve for one.' };
  const { components, security } = served(t, { openapi: '3.1.0', components: { securitySchemes: { eve: scheme } } });
  t.strictSame(components, { securitySchemes: { eve: scheme } });
  t.strictSame(security, [{ eve: [] }]);
  t.end();
});

t.test('Swagger 2.0 is routed, and served as OpenAPI 3', (t) => {
  const contract = load(t, {
    swagger: '2.0',
    info: { title: 'Old', version: '1' },
    host: 'old.test',
    basePath: '/v1',
    schemes: ['https'],
    consumes: ['application/json'],
    parameters: { petId: { name: 'petId', in: 'path', required: true, type: 'integer', minimum: 1 } },
    definitions: { Pet: { properties: { mother: { $ref: '#/definitions/Pet' } } } },
    paths: {
      '/pets/{petId}': {
        'x-petgate': { cost: 2 },
        parameters: [{ $ref: '#/parameters/petId' }],
        get: {
          operationId: 'getPet',
          responses: { 200: { schema: { $ref: '#/definitions/Pet' }, description: 'ok' } },
        },
        put: { parameters: [{ name: 'pet', in: 'body', schema: { $ref: '#/definitions/Pet' } }], responses: {} },
      },
    },
  });
  t.match(contract.routes.operations, [
    { id: 'getPet', path: '/v1/pets/{petId}', cost: 2, hasBody: false, parameters: [{ schema: { minimum: 1 } }] },
    { id: 'PUT /pets/{petId}', hasBody: true },
  ]);
  t.same(contract.warnings, []);
  const document = JSON.parse(contract.document.toString()) as Record<string, unknown>;
  t.match(document['openapi'], /^3\./);
  t.strictSame(document['servers'], [{ url: '/' }]);
  t.match(document['components'], {
    schemas: { Pet: { properties: { mother: { $ref: '#/components/schemas/Pet' } } } },
  });
  t.end();
});

t.test('integers of any size are served as they were written, and bound path parameters exactly', (t) => {
  const big = '9007199254740993';
  const path = join(t.testdir({}), 'api');
  writeFileSync(
    `${path}.json`,
    `{"openapi":"3.1.0","paths":{"/a/{id}":{"get":{"parameters":[{"name":"id","in":"path","required":true,
      "schema":{"type":"integer","maximum":${big}},"example":${big}}]}}}}`,
  );
  const { document, routes } = loadContract(`${path}.json`);
  t.match(document.toString(), `"maximum":${big}},"example":${big}`);
  t.ok(routes.fits(routes.operations[0]!, `/a/${big}`));
  t.notOk(routes.fits(routes.operations[0]!, '/a/9007199254740994'));
  writeFileSync(
    `${path}.yaml`,
    `openapi: 3.1.0\nx-big: { a: ${big}, b: '${big}', c: 1.0 }\ninfo: { version: ${big} }\n`,
  );
  const text = loadContract(`${path}.yaml`).document.toString();
  t.match(text, `"x-big":{"a":${big},"b":"${big}","c":1},"info":{"version":"${big}"}`);
  t.end();
});
