import t from 'tap';
import type { Operation } from '../../../../src/gateway/contract/operation/operation.js';
import { buildRoutes, type PathRules } from '../../../../src/gateway/contract/path/routes.js';
import { loosen } from '../../../../src/gateway/contract/path/similar.js';
import { makeOperation } from '../../operation.js';

const operationAt = (path: string, more: Partial<Operation> = {}): Operation =>
  makeOperation({ id: path, path, upstream: 'default', ...more });

/** Finds the template a path leads to; `404` where it leads nowhere. */
function matcher(
  templates: readonly (string | Operation)[],
  rules: PathRules = { removed: [], similar: 'refuse' },
): (path: string, method?: string) => string {
  const routes = buildRoutes(
    templates.map((each) => (typeof each === 'string' ? operationAt(each) : each)),
    rules,
  );
  return (path, method = 'GET') => {
    const match = routes.match(method, path);
    if (match.kind === 'not_found') return match.setting === undefined ? '404' : `404 ${match.setting}`;
    return match.kind === 'operation' ? match.operation.id : match.kind;
  };
}

const REFUSED = '404 similar_paths';
const ADMIN = ['/admin/secret', '/admin/{x}', '/admin/{x}/log', '/admin/secret/log', '/{a}/{b}/{c}'];
/** What Express, a servlet container, Windows, or a server that decodes first takes for /admin/secret. */
const ALIKE = [
  '/admin/SECRET',
  '/admin/Secret',
  '/ADMIN/secret',
  '/admin/secret;x',
  '/admin/secret;',
  '/admin/SECRET;jsessionid=1',
  '/admin/secret%3Bx',
  '/admin/secret%3bx',
  '/admin/secret.',
  '/admin/secret...',
  '/admin/secret%20',
  '/admin/secret.%20',
  '/admin/secret%20;x',
];

t.test('a parameter is never what an upstream may read as the text beside it', (t) => {
  const match = matcher(ADMIN);
  t.equal(match('/admin/secret'), '/admin/secret');
  for (const path of ALIKE) {
    t.notOk(match(path) === '/admin/{x}', path);
    t.match(match(path), /^404/, path);
    t.match(matcher(['/admin/secret', '/{a}/{b}'])(path), /^404/, `${path}, both are parameters`);
  }
  for (const method of ['POST', 'HEAD', 'OPTIONS']) t.equal(match('/admin/SECRET', method), REFUSED, method);
  for (const path of ['/admin/SECRET/log', '/admin/secret;x/log', '/Admin;y/secret/LOG', '/admin/secret%2Flog'])
    t.match(match(path), /^404/, path);
  t.equal(match('/public/..;/admin'), '/{a}/{b}/{c}', 'which nothing else is');
  t.equal(match('/x/..;/admin/secret'), '404');
  t.equal(matcher([...ADMIN, '/{a}/{b}/{c}/{d}'])('/x/..;/admin/secret'), REFUSED);
  t.end();
});

t.test('any other value passes as it is', (t) => {
  const match = matcher(ADMIN);
  for (const path of ['/admin/secrets', '/admin/SECRE', '/admin/secret-x', '/admin/7;x', '/admin/a.b', '/admin/%E9'])
    t.equal(match(path), '/admin/{x}', path);
  t.equal(match('/ADMIN/x/y'), '/{a}/{b}/{c}');
  t.equal(match('/admin/SECRET2/log'), '/admin/{x}/log');
  t.equal(matcher(['/a/{x}', '/a/b/c'])('/a/B'), '/a/{x}', 'what the text beside it leads to is no operation');
  t.equal(matcher(['/{user}', '/Users'])('/USERS'), REFUSED, 'whatever the case of the template');
  t.equal(matcher(['/Users', '/users'])('/users'), '/users', 'templates of their own are meant as they are');
  t.equal(matcher(['/Users/{x}', '/users/me'])('/Users/me'), REFUSED);
  t.equal(matcher(['/{x}', '/%C3%A9t%C3%A9'])('/%C3%89T%C3%89'), REFUSED, 'not only ASCII has capitals');
  t.equal(
    matcher(['/things/{a}', '/things/{a};{b}'])('/things/1;2'),
    '/things/{a};{b}',
    'a template with `;` means it',
  );
  t.equal(matcher(['/files/{id}', '/files/{id}:delete'])('/files/7:DELETE'), REFUSED, 'text beside a parameter too');
  t.end();
});

t.test('what the gateway answers itself is read as it is', (t) => {
  const match = matcher([operationAt('/own/docs', { upstream: 'gateway' }), '/own/{x}']);
  t.equal(match('/own/DOCS'), '/own/{x}');
  t.end();
});

t.test('without a contract, what is said of single paths holds for all that look like them', (t) => {
  const any = operationAt('/{path}', { anyPath: true });
  const match = matcher([any, '/reports/{id}', '/secret']);
  t.equal(match('/reports/7'), '/reports/{id}');
  for (const path of [
    '/REPORTS/7',
    '/reports/7/',
    '//reports/7',
    '/reports%2F7',
    '/x/..;/reports/7',
    '/SECRET',
    '/secret/',
  ])
    t.equal(match(path), REFUSED, path);
  for (const path of ['/', '/Other', '/other/', '/other/7', '/reports', '/reports/7/8', '/a%2Fb'])
    t.equal(match(path), '/{path}', path);
  t.equal(matcher([any])('/A%2F;b/'), '/{path}', 'alone it takes all');
  t.end();
});

t.test('where the setting allows it, they are forwarded', (t) => {
  const match = matcher(ADMIN, { removed: [], similar: 'forward' });
  for (const path of ALIKE.filter((path) => path.startsWith('/admin/'))) t.equal(match(path), '/admin/{x}', path);
  t.end();
});

t.test('removed paths stay closed, and what looks like them', (t) => {
  const removed = ['/admin/audit', '/users/{id}/keys', '/both'];
  const match = matcher(['/admin/{x}', '/users/{id}/{part}', '/{page}', '/both'], { removed, similar: 'refuse' });
  for (const path of ['/admin/audit', '/users/7/keys']) t.equal(match(path), '404', path);
  for (const path of ['/admin/AUDIT', '/admin/audit;x', '/users/7/Keys']) t.equal(match(path), REFUSED, path);
  t.equal(match('/admin/other'), '/admin/{x}');
  t.equal(match('/users/7/name'), '/users/{id}/{part}');
  t.equal(match('/both'), '/both', 'it has another operation');
  const forwards = matcher(['/admin/{x}'], { removed, similar: 'forward' });
  t.equal(forwards('/admin/audit'), '404');
  t.end();
});

t.test('a path of any length is read in time that grows with it', (t) => {
  t.equal(loosen(`/${'. '.repeat(4_000)}x`).length, 8_002);
  t.equal(loosen(`/a${'.'.repeat(8_000)}`), '/a');
  t.equal(loosen(`/a/${'../'.repeat(4_000)}`), '/');
  t.end();
});
