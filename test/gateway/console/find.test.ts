import t from 'tap';
import { createFinder } from '../../../src/gateway/console/find.js';
import { page } from '../../../src/gateway/console/visit/page.js';

const serve = (): { readonly to: string } => ({ to: '' });
const LIST = page('GET /keys', 'GET /admin/v1/keys', 'Keys', { serve });
const ONE = page('GET /keys/{id}', 'GET /admin/v1/keys/{id}', 'Key', { serve });
const BAN = page('POST /keys/{id}/ban', 'PUT /admin/v1/bans/{id}', 'Ban', { serve });
const find = createFinder([LIST, ONE, BAN]);

t.test('a page is found by method and path, with what its path says', (t) => {
  t.equal(find('GET', '/console/keys').page, LIST);
  t.equal(find('HEAD', '/console/keys').page, LIST);
  t.match(find('GET', '/console/keys/a%2Fb'), { page: ONE, id: 'a/b', part: '' });
  t.equal(find('POST', '/console/keys/x/ban').page, BAN);
  t.end();
});

t.test('what is nowhere, and what is not asked in this way', (t) => {
  const refused = (method: string, path: string): unknown => {
    try {
      return find(method, path);
    } catch (error) {
      return error;
    }
  };
  for (const rest of ['keys/', 'key', 'keys/x/y', `keys/${'x'.repeat(257)}`, 'keys/%zz'])
    t.match(refused('GET', `/console/${rest}`), { status: 404 }, rest);
  t.match(refused('PUT', '/console/keys'), { status: 405, headers: { Allow: 'GET, HEAD' } });
  t.end();
});

t.test('a page has the role of the route that it shows, and none of its own', (t) => {
  t.equal(BAN.role, 'keys');
  t.throws(() => page('GET /x', 'GET /admin/v1/nothing', 'X', { serve }), { message: /no route/ });
  t.throws(() => page('GET /x', 'GET /livez', 'X', { serve }), { message: /no route/ }, 'nothing is open by mistake');
  t.end();
});
