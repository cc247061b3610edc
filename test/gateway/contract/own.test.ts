import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { loadContract, type LoadedContract } from '../../../src/gateway/contract/load.js';

function load(t: Test, document: object, ownPaths: string | null): LoadedContract {
  const path = join(t.testdir({}), 'openapi.json');
  writeFileSync(path, JSON.stringify({ openapi: '3.0.3', ...document }));
  return loadContract(path, { own_paths: ownPaths });
}

const pathsOf = ({ routes }: LoadedContract): unknown =>
  routes.operations.map(({ id, path, upstream }) => [id, path, upstream]);

const OWN = [
  ['getOwnUsage', '/_petgate/usage', 'gateway'],
  ['getOpenapi', '/_petgate/openapi.json', 'gateway'],
  ['getDocs', '/_petgate/docs', 'gateway'],
  ['getDocsFile', '/_petgate/docs/{file}', 'gateway'],
];

t.test('what the gateway answers itself is added, free of charge, whatever the document says for all', (t) => {
  const contract = load(
    t,
    {
      servers: [{ url: '/api/v2' }],
      security: [],
      tags: [{ name: 'theirs' }],
      'x-petgate': { cost: 7, scope: 'pets:read', stability: 'beta', deadline: '1s' },
      paths: { '/a': { get: {} } },
    },
    '/_petgate',
  );
  t.strictSame(pathsOf(contract), [['GET /a', '/api/v2/a', 'default'], ...OWN]);
  const own = contract.routes.operations.slice(1);
  t.ok(own.every(({ cost, scope, headers }) => cost === 0 && scope === null && headers.length === 0));
  t.strictSame(
    own.map(({ secured }) => secured),
    [true, false, false, false],
    'the usage of a key wants one',
  );
  const [file] = own.slice(-1);
  t.ok(contract.routes.fits(file!, '/_petgate/docs/page.js'));
  t.notOk(contract.routes.fits(file!, '/_petgate/docs/other.js'));
  const { paths, servers, tags } = JSON.parse(contract.document.toString()) as Record<string, object>;
  t.strictSame(Object.keys(paths!), ['/api/v2/a', ...OWN.map(([, path]) => path)]);
  t.strictSame(servers, [{ url: '/' }]);
  t.match(tags, [{ name: 'theirs' }, { name: 'gateway' }]);
  t.notMatch(JSON.stringify(paths), 'x-petgate');
  t.strictSame(contract.warnings, []);
  t.end();
});

t.test('what a document names of them is where it says; off: nothing is added', (t) => {
  const paths = {
    '/help': { get: { operationId: 'getDocs', 'x-petgate': { upstream: 'gateway' } } },
    '/_petgate/usage': { get: { operationId: 'getOwnUsage', 'x-petgate': { upstream: 'gateway' } } },
  };
  const named = [
    ['getDocs', '/help', 'gateway'],
    ['getOwnUsage', '/_petgate/usage', 'gateway'],
  ];
  t.strictSame(pathsOf(load(t, { paths }, '/_petgate')), [...named, OWN[1], OWN[3]]);
  t.strictSame(pathsOf(load(t, { paths }, null)), named);
  t.end();
});

t.test('operations of the API that have one of these names keep out of their way', (t) => {
  const operations = ['getDocs', 'getOwnUsage', 'getOpenapi'].map((operationId) => [
    `/${operationId}`,
    { get: { operationId } },
  ]);
  const contract = load(t, { paths: Object.fromEntries(operations) as object }, '/_petgate');
  t.strictSame(pathsOf(contract), [
    ['GET /getDocs', '/getDocs', 'default'],
    ['GET /getOwnUsage', '/getOwnUsage', 'default'],
    ['GET /getOpenapi', '/getOpenapi', 'default'],
    ...OWN,
  ]);
  t.equal(contract.warnings.length, 3);
  t.match(contract.warnings[0], /operationId: "getDocs" is a name of Petgate's own; .* "GET \/getDocs"/);
  t.end();
});

t.test('nothing of the API may be below them, and parameters lead to nothing of theirs', (t) => {
  for (const [server, path] of [
    ['/', '/_petgate/usage'],
    ['/', '/_petgate/{a}'],
    ['/', '/_petgate'],
    ['/_petgate', '/pets'],
  ] as const)
    t.throws(
      () => load(t, { servers: [{ url: server }], paths: { [path]: { post: {} } } }, '/_petgate'),
      { message: /openapi\.json:1:\d+: paths\..*: \/_petgate is where .*: own_paths in the settings/ },
      server + path,
    );
  const { routes } = load(t, { paths: { '/_petgates': { get: {} }, '/{a}/{b}': { post: {} } } }, '/_petgate');
  t.match(routes.match('GET', '/_petgate/docs'), { operation: { id: 'getDocs' } });
  t.equal(routes.match('POST', '/_petgate/docs').kind, 'method_not_allowed');
  t.match(routes.match('POST', '/_petgate/other'), { operation: { id: 'POST /{a}/{b}' } });
  t.end();
});
