import fc from 'fast-check';
import t from 'tap';
import { loadContract } from '../../../../src/gateway/contract/load.js';
import type { Match, Operation, RouteTable } from '../../../../src/gateway/contract/operation/operation.js';
import { buildRoutes } from '../../../../src/gateway/contract/path/routes.js';
import { makeOperation } from '../../operation.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

const operation = (method: string, path: string): Operation => makeOperation({ id: `${method} ${path}`, method, path });

function tableOf(operations: readonly Operation[]): RouteTable {
  return buildRoutes(operations, { removed: [], similar: 'refuse' });
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

t.test('text comes before a parameter, segment by segment, and back where it leads nowhere', (t) => {
  const routes = tableOf([
    operation('GET', '/a/{x}'),
    operation('GET', '/a/b'),
    operation('PUT', '/a/{x}/c/{y}'),
    operation('DELETE', '/a/{x}/d'),
    operation('POST', '/a/only'),
    operation('GET', '/{x}/b/e'),
    operation('GET', '/a/b/{x}/f'),
    operation('GET', '/a/{x}/'),
  ]);
  for (const [method, path, expected] of [
    ['GET', '/a/b', 'GET /a/b'],
    ['GET', '/a/bb', 'GET /a/{x}'],
    ['PUT', '/a/1/c/2', 'PUT /a/{x}/c/{y}'],
    ['PUT', '/a/1/c/', 'not_found'],
    ['DELETE', '/a/1/d', 'DELETE /a/{x}/d'],
    ['DELETE', '/a/b/d', 'DELETE /a/{x}/d'],
    ['DELETE', '/a/1/dd', 'not_found'],
    ['GET', '/a/b/e', 'GET /{x}/b/e'],
    ['GET', '/a/b/e/f', 'GET /a/b/{x}/f'],
    ['GET', '/a/c/', 'GET /a/{x}/'],
    // Many servers read it as /a/b.
    ['GET', '/a/b/', 'not_found'],
    ['GET', '/a//', 'not_found'],
    // The path that fits is /a/only, which has no GET.
    ['GET', '/a/only', 'method_not_allowed POST, OPTIONS'],
    ['OPTIONS', '/a/only', 'options POST, OPTIONS'],
  ] as const)
    t.equal(told(routes.match(method, path)), expected, `${method} ${path}`);
  t.end();
});

t.test('of segments with parameters the one with more text counts, then the one with fewer parameters', (t) => {
  const templates = ['/{id}', '/{id}.json', '/{id}.tar.gz', '/{a}-{b}', '/{a}-', '/-{a}', '/{id}:verb', '/{a}...{b}'];
  const routes = tableOf(templates.map((template) => operation('GET', template)));
  for (const [path, expected] of [
    ['/7', '/{id}'],
    ['/7.json', '/{id}.json'],
    ['/.json', '/{id}'],
    ['/7.json.tar.gz', '/{id}.tar.gz'],
    ['/a-b', '/{a}-{b}'],
    ['/a-b.json', '/{id}.json'],
    ['/a--', '/{a}-'],
    ['/-a', '/-{a}'],
    ['/-a-', '/-{a}'],
    ['/-', '/{id}'],
    ['/7:verb', '/{id}:verb'],
    ['/7:verb:verb', '/{id}:verb'],
    ['/:verb', '/{id}'],
    ['/v1...v2', '/{a}...{b}'],
    ['/...v2', '/{id}'],
  ] as const)
    t.equal(told(routes.match('GET', path)), `GET ${expected}`, path);
  t.end();
});

t.test('texts of one hash are told apart', (t) => {
  const routes = tableOf(['/Aa', '/BB', '/a', '/{x}/{y}'].map((template) => operation('GET', template)));
  for (const [path, expected] of [
    ['/Aa', 'GET /Aa'],
    ['/BB', 'GET /BB'],
    ['/a', 'GET /a'],
    ['/ajkenmed', 'not_found'],
    ['/BB/Aa', 'GET /{x}/{y}'],
  ] as const)
    t.equal(told(routes.match('GET', path)), expected, path);
  t.end();
});

t.test('templates that differ in the names of parameters are one path, and its first operation counts', (t) => {
  const routes = tableOf([
    operation('GET', '/a/{x}.{y}'),
    operation('POST', '/a/{id}.{format}'),
    operation('GET', '/a/{b}.{c}'),
  ]);
  t.equal(told(routes.match('GET', '/a/1.2')), 'GET /a/{x}.{y}');
  t.equal(told(routes.match('POST', '/a/1.2')), 'POST /a/{id}.{format}');
  t.equal(told(routes.match('PUT', '/a/1.2')), 'method_not_allowed GET, HEAD, POST, OPTIONS');
  t.end();
});

t.test('an OPTIONS or HEAD of the document itself is served as such', (t) => {
  const routes = tableOf([operation('GET', '/a'), operation('HEAD', '/a'), operation('OPTIONS', '/a')]);
  t.equal(told(routes.match('HEAD', '/a')), 'HEAD /a');
  t.equal(told(routes.match('OPTIONS', '/a')), 'OPTIONS /a');
  t.equal(told(routes.match('POST', '/a')), 'method_not_allowed GET, HEAD, OPTIONS');
  t.equal(told(routes.match('OPTIONS', '*')), 'options GET, HEAD, OPTIONS', 'the server is no path of an upstream');
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

/** What `buildRoutes` says it does, read slowly: all templates that fit, and the first of them in its order. */
function expectedOf(operations: readonly Operation[], method: string, path: string): string {
  const fitting = operations.filter((one) => expressionOf(one.path).test(path));
  const [best] = fitting.toSorted((a, b) => compare(ranksOf(a.path), ranksOf(b.path)));
  if (path !== '*' && best === undefined) return 'not_found';
  const there =
    path === '*' ? operations : fitting.filter((one) => compare(ranksOf(one.path), ranksOf(best!.path)) === 0);
  const served = path === '*' ? undefined : servedBy(there, method);
  if (served !== undefined) return served.id;
  const allowed = METHODS.filter((name) => name === 'OPTIONS' || servedBy(there, name) !== undefined);
  return `${method === 'OPTIONS' ? 'options' : 'method_not_allowed'} ${allowed.join(', ')}`;
}

function servedBy(operations: readonly Operation[], method: string): Operation | undefined {
  const own = operations.find((one) => one.method === method);
  return own ?? (method === 'HEAD' ? operations.find((one) => one.method === 'GET') : undefined);
}

const EXPRESSIONS = new Map<string, RegExp>();

/** Every parameter but the last of its segment takes as little as it can. */
function expressionOf(template: string): RegExp {
  const known = EXPRESSIONS.get(template);
  if (known !== undefined) return known;
  const segments = template.split('/').map((segment) =>
    segment
      .replaceAll(/[^{}\w]/g, '\\$&')
      .replace(/\{[^{}]*\}([^{}]*)$/, '([^/]+)$1')
      .replaceAll(/\{[^{}]*\}/g, '([^/]+?)'),
  );
  const expression = new RegExp(`^${segments.join('/')}$`, 's');
  EXPRESSIONS.set(template, expression);
  return expression;
}

type Rank = readonly (string | number)[];

/** Of each segment: text alone first, then more text, then fewer parameters, then as it sorts. */
function ranksOf(template: string): readonly Rank[] {
  return template.split('/').map((segment) => {
    const shape = segment.replaceAll(/\{[^{}]*\}/g, '{}');
    const parameters = shape.split('{}').length - 1;
    return [Number(parameters > 0), 2 * parameters - shape.length, parameters, shape];
  });
}

function compare(a: readonly Rank[], b: readonly Rank[]): number {
  const [left, right] = [a.flat(), b.flat()];
  const index = left.findIndex((value, index) => value !== right[index]);
  return index === -1 ? 0 : left[index]! < right[index]! ? -1 : 1;
}

/** Few pieces, so that templates overlap. */
const piece = fc.constantFrom('a', 'b', '-', '.', '{x}', '{y}');
const segment = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', '{x}', '{x}-', '-{x}', '{x}-{y}', '{x}{y}', 'a{x}', '{x}.{y}.{z}') },
  { weight: 1, arbitrary: fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join('')) },
);
const asked = fc.array(fc.constantFrom('a', 'b', '-', '.'), { maxLength: 5 }).map((characters) => characters.join(''));
const pathOf = (of: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(fc.oneof(fc.constant('a'), of), { minLength: 1, maxLength: 3 }).map((all) => `/${all.join('/')}`);

t.test('routes of random templates agree with a plain reading of the rule', (t) => {
  const tables = fc.array(fc.tuple(fc.constantFrom(...METHODS), pathOf(segment)), { minLength: 1, maxLength: 30 });
  const requests = fc.array(
    fc.tuple(
      fc.constantFrom(...METHODS, 'TRACE'),
      fc.oneof({ weight: 9, arbitrary: pathOf(asked) }, fc.constantFrom('*', '', '/', 'a')),
    ),
    { minLength: 20, maxLength: 20 },
  );
  fc.assert(
    fc.property(tables, requests, (table, requests) => {
      const operations = table.map(([method, path]) => operation(method, path));
      const routes = buildRoutes(operations, { removed: [], similar: 'forward' });
      const strict = tableOf(operations);
      return requests.every(([method, path]) => {
        const found = told(routes.match(method, path));
        const refused = told(strict.match(method, path));
        return (refused === found || refused === 'not_found') && found === expectedOf(operations, method, path);
      });
    }),
    { numRuns: 1000 },
  );
  t.end();
});

t.test('going back costs each node of the tree at most once', (t) => {
  const depth = 7;
  const prefixes = Array.from({ length: depth }).reduce<readonly string[]>(
    (all) => all.flatMap((prefix) => [`${prefix}/a`, `${prefix}/{x}`]),
    [''],
  );
  const routes = tableOf(prefixes.map((prefix) => operation('GET', `${prefix}/end`)));
  const read = t.capture(String.prototype, 'charCodeAt', Reflect.get(String.prototype, 'charCodeAt') as () => number);
  t.equal(routes.match('GET', `${'/a'.repeat(depth)}/other`).kind, 'not_found');
  t.ok(read().length <= 2 ** (depth + 1) * '/other'.length, 'of as many nodes as there are, one segment each');
  t.equal(routes.match('GET', `${'/a'.repeat(5_000)}/end`).kind, 'not_found');
  t.ok(read().length <= 2 ** (depth + 1) * '/other'.length, 'no deeper than the templates');
  t.end();
});

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
