import fc from 'fast-check';
import t from 'tap';
import { loadContract } from '../../../src/gateway/contract/load.js';
import type { Match, Operation } from '../../../src/gateway/contract/operation.js';
import { buildRoutes, clash } from '../../../src/gateway/contract/routes.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

function operation(method: string, path: string): Operation {
  return {
    id: `${method} ${path}`,
    method,
    path,
    upstream: 'pets',
    cost: 1,
    secured: true,
    scope: null,
    hasBody: false,
    stability: null,
    websocket: false,
    deadlineMs: null,
    sunsetAtMs: null,
    headers: [],
    parameters: [],
  };
}

/** A match in one line: the operation's id, or what stands instead. */
function told(match: Match): string {
  if (match.kind === 'operation') return match.operation.id;
  return match.kind === 'not_found' ? 'not_found' : `${match.kind} ${match.allow}`;
}

t.test('each request of the contract finds its operation, or what stands instead', (t) => {
  const { routes } = loadContract();
  const rows: readonly (readonly [string, string, string])[] = [
    ['GET', '/v1/pets', 'listPets'],
    ['HEAD', '/v1/pets', 'listPets'],
    ['POST', '/v1/pets', 'createPet'],
    ['OPTIONS', '/v1/pets', 'options GET, HEAD, POST, OPTIONS'],
    ['DELETE', '/v1/pets', 'method_not_allowed GET, HEAD, POST, OPTIONS'],
    ['get', '/v1/pets', 'method_not_allowed GET, HEAD, POST, OPTIONS'],
    ['', '/v1/pets', 'method_not_allowed GET, HEAD, POST, OPTIONS'],
    ['__proto__', '/v1/pets', 'method_not_allowed GET, HEAD, POST, OPTIONS'],
    ['GET', '/v1/pets/7', 'getPet'],
    ['HEAD', '/v1/pets/7', 'getPet'],
    ['GET', '/v1/pets/anything', 'getPet'],
    ['POST', '/v1/pets/7', 'method_not_allowed GET, HEAD, OPTIONS'],
    ['OPTIONS', '/v1/pets/7', 'options GET, HEAD, OPTIONS'],
    ['GET', '/v1/store/orders', 'listOrders'],
    ['GET', '/v1/usage', 'getOwnUsage'],
    ['GET', '/openapi.json', 'getOpenapi'],
    ['GET', '/docs', 'getDocs'],
    ['GET', '/v1/docs', 'not_found'],
    ['GET', '/v1/pets/', 'not_found'],
    ['GET', '/v1/pets//', 'not_found'],
    ['GET', '/v1/pets/7/', 'not_found'],
    ['GET', '/v1/pets/7/owner', 'not_found'],
    ['GET', '/v1//pets', 'not_found'],
    ['GET', '/v1/petsx', 'not_found'],
    ['GET', '/v1/pets7', 'not_found'],
    ['GET', '/v1/PETS', 'not_found'],
    ['GET', '/v2/pets', 'not_found'],
    ['GET', '/pets', 'not_found'],
    ['GET', '/v1', 'not_found'],
    ['GET', '/', 'not_found'],
    ['GET', '', 'not_found'],
    ['GET', 'v1/pets', 'not_found'],
    ['OPTIONS', '*', 'options GET, HEAD, POST, OPTIONS'],
    ['GET', '__proto__', 'not_found'],
    ['GET', '/v1/pets/__proto__', 'getPet'],
    ['GET', '/v1/pets/{petId}', 'getPet'],
    ['GET', '/constructor', 'not_found'],
  ];
  for (const [method, path, expected] of rows) t.equal(told(routes.match(method, path)), expected, `${method} ${path}`);
  t.end();
});

t.test('a static path wins over a template, and a template tells itself by its length', (t) => {
  const routes = buildRoutes([
    operation('GET', '/a/{x}'),
    operation('GET', '/a/b'),
    operation('PUT', '/a/{x}/c/{y}'),
    operation('DELETE', '/a/{x}/d'),
  ]);
  t.equal(told(routes.match('GET', '/a/b')), 'GET /a/b');
  t.equal(told(routes.match('GET', '/a/bb')), 'GET /a/{x}');
  t.equal(told(routes.match('PUT', '/a/1/c/2')), 'PUT /a/{x}/c/{y}');
  t.equal(told(routes.match('PUT', '/a/1/c/')), 'not_found');
  t.equal(told(routes.match('DELETE', '/a/1/d')), 'DELETE /a/{x}/d');
  t.equal(told(routes.match('DELETE', '/a/1/dd')), 'not_found');
  t.end();
});

t.test('an OPTIONS or HEAD of the document itself is served as such', (t) => {
  const routes = buildRoutes([operation('GET', '/a'), operation('HEAD', '/a'), operation('OPTIONS', '/a')]);
  t.equal(told(routes.match('HEAD', '/a')), 'HEAD /a');
  t.equal(told(routes.match('OPTIONS', '/a')), 'OPTIONS /a');
  t.equal(told(routes.match('POST', '/a')), 'method_not_allowed GET, HEAD, OPTIONS');
  t.end();
});

t.test('two operations clash when one request may mean both', (t) => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['/a', '/a', true],
    ['/a', '/b', false],
    ['/a', '/{x}', false],
    ['/{x}', '/{y}', true],
    ['/a/{x}', '/{y}/b', true],
    ['/a/{x}/c', '/a/{y}/d', false],
    ['/a/{x}', '/a/{x}/b', false],
  ];
  for (const [a, b, expected] of rows) t.equal(clash(operation('GET', a), operation('GET', b)), expected, `${a} ${b}`);
  t.notOk(clash(operation('GET', '/a'), operation('POST', '/a')), 'the methods differ');
  t.ok(clash(operation('GET', '/{x}'), operation('POST', '/{y}')), 'two templates of one shape are one path');
  t.end();
});

t.test('finding a route allocates no match', (t) => {
  const { routes } = loadContract();
  for (const [method, path] of [
    ['GET', '/v1/pets'],
    ['GET', '/v1/pets/1'],
    ['PUT', '/v1/pets'],
    ['OPTIONS', '/docs'],
    ['GET', '/none'],
  ] as const) {
    t.equal(routes.match(method, path), routes.match(method, path));
  }
  t.end();
});

/** A second, slower opinion: the template as a list of segments compared one by one. */
function expectedOf(operations: readonly Operation[], method: string, path: string): string {
  const fits = (template: string): boolean => {
    const [own, given] = [template.split('/'), path.split('/')];
    return (
      own.length === given.length &&
      own.every((segment, index) => (segment.startsWith('{') ? given[index] !== '' : segment === given[index]))
    );
  };
  const servedAs = (name: string): string => (name === 'HEAD' ? 'GET' : name);
  const allowedOf = (some: readonly Operation[]): string => {
    const allows = (name: string): boolean =>
      name === 'OPTIONS' || some.some((candidate) => candidate.method === servedAs(name));
    return `${method === 'OPTIONS' ? 'options' : 'method_not_allowed'} ${METHODS.filter(allows).join(', ')}`;
  };
  if (path === '*') return allowedOf(operations);
  const exact = operations.filter((candidate) => candidate.path === path && !path.includes('{'));
  const there =
    exact.length > 0 ? exact : operations.filter((candidate) => candidate.path.includes('{') && fits(candidate.path));
  if (there.length === 0) return 'not_found';
  const served = there.find((candidate) => candidate.method === servedAs(method));
  if (served !== undefined) return served.id;
  return allowedOf(there);
}

t.test('match never throws, and agrees with a plain reading of the templates', (t) => {
  const { routes } = loadContract();
  const segment = fc.oneof(
    fc.constantFrom(
      'v1',
      'pets',
      'store',
      'orders',
      'usage',
      'docs',
      'openapi.json',
      '',
      '{petId}',
      '7',
      '__proto__',
      'toString',
    ),
    fc.string(),
  );
  const path = fc.oneof(
    fc.constant('*'),
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.array(segment, { maxLength: 6 }).map((segments) => `/${segments.join('/')}`),
  );
  const method = fc.oneof(fc.constantFrom(...METHODS, 'TRACE', 'CONNECT', '__proto__', 'constructor'), fc.string());
  fc.assert(
    fc.property(method, path, (method, path) => {
      const match = told(routes.match(method, path));
      return match === expectedOf(routes.operations, method, path) && match === told(routes.match(method, path));
    }),
    { numRuns: 5000 },
  );
  t.end();
});
