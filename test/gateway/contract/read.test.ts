import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { loadContract } from '../../../src/gateway/contract/load.js';

function load(t: Test, text: string): ReturnType<typeof loadContract> {
  const path = join(t.testdir({}), 'openapi.yaml');
  writeFileSync(path, text);
  return loadContract(path, { upstreams: { pets: { deadline: 15_000 } } });
}

t.test('QUERY and additional operations of OpenAPI 3.2 are operations as any other', (t) => {
  const { routes, document } = load(
    t,
    `openapi: 3.2.0
paths:
  /a:
    query: { operationId: find, requestBody: {}, x-petgate: { upstream: pets, scope: 'pets:read' } }
    additionalOperations: { LIST: { operationId: list, x-petgate: { upstream: pets, cost: 3 } } }
`,
  );
  t.match(routes.match('QUERY', '/a'), { operation: { id: 'find', scope: 'pets:read', hasBody: true } });
  t.match(routes.match('LIST', '/a'), { operation: { id: 'list', cost: 3, hasBody: false } });
  t.match(routes.match('GET', '/a'), { kind: 'method_not_allowed', allow: 'QUERY, OPTIONS, LIST' });
  t.notMatch(document.toString(), 'x-petgate');
  t.end();
});

t.test('a server without a scheme is a host, and says so', (t) => {
  for (const [url, base] of [
    ['localhost:8080/api', '/api'],
    ['api.example.com/v1/', '/v1'],
    ['127.0.0.1:80', ''],
    ['v1', '/v1'],
    ['v1.2/api', '/v1.2/api'],
  ] as const) {
    const { routes, warnings } = load(
      t,
      `openapi: 3.1.0\nservers: [{ url: '${url}' }]\npaths: { /a: { get: { x-petgate: { upstream: pets } } } }\n`,
    );
    t.equal(routes.operations[0]?.path, `${base}/a`, url);
    t.match(warnings, url.startsWith('v1') ? [] : [/:2:18: servers\.0\.url: has no scheme/]);
  }
  t.end();
});

t.test('a parameter that a document writes as greedy takes the rest of the path', (t) => {
  const { routes, warnings } = load(
    t,
    `openapi: 3.1.0
x-petgate: { upstream: pets }
paths:
  /files/{path*}: { get: { parameters: [{ name: path, in: path, schema: { pattern: '^[a-z/]+$' } }] } }
  /files/list: { get: {} }
  /v1/{+name}:cancel: { post: { parameters: [{ name: name, in: path, schema: { type: string } }] } }
  /all/{proxy+}: { get: { parameters: [{ name: proxy, in: path, schema: { type: string } }] } }
  /x/{a+}/y: { get: { parameters: [{ name: a, in: path, schema: { type: string } }] } }
`,
  );
  const at = (method: string, path: string): string => {
    const match = routes.match(method, path);
    if (match.kind !== 'operation') return match.kind;
    return routes.fits(match.operation, path) ? match.operation.id : 'misfit';
  };
  t.equal(at('GET', '/files/a/b/c'), 'GET /files/{path*}');
  t.equal(at('GET', '/files/a/B'), 'misfit', 'its schema holds');
  t.equal(at('GET', '/files/list'), 'GET /files/list', 'a path of its own counts first');
  t.equal(at('GET', '/files/list/more'), 'GET /files/{path*}');
  t.equal(at('GET', '/files/'), 'not_found', 'at least one character');
  t.equal(at('POST', '/v1/projects/1/jobs/2:cancel'), 'POST /v1/{+name}:cancel');
  t.equal(at('POST', '/v1/projects/1'), 'not_found');
  t.equal(at('GET', '/all/a'), 'GET /all/{proxy+}');
  t.equal(at('GET', '/all/a%2Fb'), 'misfit', 'no escaped slash');
  t.equal(at('GET', '/all/a/b/'), 'GET /all/{proxy+}');
  t.equal(at('GET', '/x/1/2/y'), 'not_found');
  t.match(warnings, [/\/x\/\{a\+\}\/y\.get: \{a\+\} takes one segment here/]);
  t.end();
});
