import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { exampleRequest } from '../../../src/gateway/contract/example.js';
import { loadContract } from '../../../src/gateway/contract/load.js';

function exampleIn(t: Test, paths: object, more: object = {}): unknown {
  const path = join(t.testdir({}), 'openapi.json');
  writeFileSync(path, JSON.stringify({ openapi: '3.1.0', servers: [{ url: '/v1' }], paths, ...more }));
  const { method, target } = exampleRequest(loadContract(path, { own_paths: '/_petgate' }));
  return `${method} ${target}`;
}

const REQUIRED = { name: 'q', in: 'query', required: true };
const PET = { name: 'a b', in: 'path', required: true };

t.test('a GET without anything to fill in is shown before all others', (t) => {
  const paths = {
    '/gone': { get: { 'x-sunset': '2020-01-01' } },
    '/pets/{a b}': { parameters: [{ ...PET, example: 7 }], get: {} },
    '/search': { get: { parameters: [{ ...REQUIRED, example: 'x' }] } },
    '/list': { post: {}, get: { parameters: [{ name: 'limit', in: 'query' }] } },
  };
  t.equal(exampleIn(t, paths), 'GET /v1/list');
  t.end();
});

t.test('what must be filled in has the examples of the document, escaped', (t) => {
  const components = {
    parameters: { pet: { ...PET, schema: { $ref: '#/components/schemas/Id' } } },
    schemas: { Id: { type: 'string', examples: ["a/b'c"] } },
  };
  const pet = { parameters: [{ $ref: '#/components/parameters/pet' }], get: {} };
  t.equal(exampleIn(t, { '/pets/{a b}': pet }, { components }), "GET /v1/pets/a%2Fb'c");
  const search = { get: { parameters: [{ ...REQUIRED, examples: { one: { value: 'ä&b' } } }] } };
  t.equal(exampleIn(t, { '/search': search }), 'GET /v1/search?q=%C3%A4%26b');
  t.equal(exampleIn(t, { '/pets/{a b}': pet, '/search': search }, { components }), "GET /v1/pets/a%2Fb'c");
  t.equal(exampleIn(t, { '/pets/{id}': { get: {} }, '/pets': { post: {} } }), 'POST /v1/pets');
  t.equal(exampleIn(t, { '/pets/{id}': { get: {} } }), 'GET /', 'nothing can be shown');
  t.end();
});

t.test('of the animal store its list; without a contract the root', (t) => {
  t.strictSame(exampleRequest(loadContract()), { method: 'GET', target: '/v1/pets' });
  t.strictSame(exampleRequest(loadContract(null)), { method: 'GET', target: '/' });
  t.end();
});
