import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadContract } from '../../../../src/gateway/contract/load.js';
import { buildRoutes } from '../../../../src/gateway/contract/path/routes.js';

t.test('without a contract any path is an operation, which is its method', (t) => {
  const { routes, pathRules, warnings, document } = loadContract(null, { own_paths: '/_petgate' });
  // As a worker gets them.
  for (const table of [routes, buildRoutes(structuredClone(routes.operations), pathRules)]) {
    for (const path of ['/', '/a', '/a/', '//', '/a/b/c', '/_petgate', '/_petgate/other', '/%7Bpath%7D'])
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const found = table.match(method, path);
        t.match(found, { kind: 'operation', operation: { id: method, cost: 1, secured: true } }, `${method} ${path}`);
        t.ok(found.kind === 'operation' && table.fits(found.operation, path), path);
      }
    t.match(table.match('HEAD', '/a/b'), { operation: { id: 'GET', websocket: true } });
    t.match(table.match('OPTIONS', '/a/b'), {
      kind: 'options',
      allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      operation: { id: 'ANY' },
    });
    for (const method of ['PROPFIND', 'LIST', 'QUERY', 'x-own'])
      t.match(table.match(method, '/a/b'), { operation: { id: 'ANY', hasBody: true } }, method);
    t.match(table.match('OPTIONS', '*'), { kind: 'options' });
    t.equal(table.match('TRACE', '/a').kind, 'method_not_allowed');
    t.equal(table.match('GET', '*').kind, 'method_not_allowed');
    t.match(table.match('GET', '/_petgate/docs'), { operation: { id: 'getDocs' } });
  }
  t.strictSame(warnings, []);
  t.match(JSON.parse(document.toString()), { paths: { '/{path}': { get: { operationId: 'GET' } } } });
  t.end();
});

t.test('overlays price methods, take them away, and add paths that have a price of their own', (t) => {
  const overlay = join(t.testdir({}), 'policy.json');
  writeFileSync(
    overlay,
    JSON.stringify({
      overlay: '1.0.0',
      info: { title: 'o', version: '1' },
      actions: [
        { target: "$.paths['/{path}'].post", update: { 'x-petgate': { cost: 5 } } },
        { target: "$.paths['/{path}'].delete", remove: true },
        {
          target: '$.paths',
          update: { '/reports/{id}': { get: { operationId: 'report', 'x-petgate': { cost: 9 } } } },
        },
      ],
    }),
  );
  const { routes } = loadContract(null, { overlays: [overlay], base_path: '/api' });
  t.match(routes.match('POST', '/api/a/b'), { operation: { id: 'POST', cost: 5 } });
  t.equal(routes.match('DELETE', '/api/a/b').kind, 'method_not_allowed');
  t.match(routes.match('GET', '/api/reports/7'), { operation: { id: 'report', cost: 9 } });
  t.equal(routes.match('POST', '/api/reports/7').kind, 'method_not_allowed', 'a path of its own');
  for (const path of ['/', '/api', '/apis', '/other']) t.equal(routes.match('GET', path).kind, 'not_found', path);
  t.match(routes.match('GET', '/api/'), { operation: { id: 'GET' } });
  t.end();
});
