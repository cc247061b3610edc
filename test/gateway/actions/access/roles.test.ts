import t from 'tap';
import type { Action } from '../../../../src/gateway/actions/action.js';
import { ROUTES } from '../../../../src/gateway/admin/routes.js';
import { ROLES, type Role } from '../../../../src/gateway/store/records/admin-token.js';
import { bearer, listen } from '../../admin/listener.js';

const PROBES = ['GET /metrics', 'GET /livez', 'GET /readyz'];
const ANYBODY = [
  'GET /admin/v1/openapi.json',
  'GET /admin/v1/customers',
  'GET /admin/v1/customers/{id}',
  'GET /admin/v1/customers/{id}/history',
  'GET /admin/v1/customers/{id}/grants',
  'GET /admin/v1/customers/{id}/credits',
];
const READ = [
  'GET /admin/v1/keys',
  'GET /admin/v1/keys/{id}',
  'GET /admin/v1/keys/{id}/windows',
  'GET /admin/v1/keys/{id}/history',
  'GET /admin/v1/keys/{id}/grants',
  'GET /admin/v1/keys/{id}/credits',
  'GET /admin/v1/bans',
  'GET /admin/v1/bans/{id}',
  'GET /admin/v1/events',
  'GET /admin/v1/events/{id}',
  'GET /admin/v1/exchanges',
  'GET /admin/v1/exchanges/{id}',
  'GET /admin/v1/gateways',
  'GET /admin/v1/plans',
  'GET /admin/v1/refused',
  'POST /admin/v1/plans/check',
];
const BILLING = [
  'POST /admin/v1/keys/{id}/credits',
  'POST /admin/v1/customers/{id}/credits',
  'GET /admin/v1/usage',
  'GET /admin/v1/usage/corrections',
  'POST /admin/v1/usage/corrections',
  'GET /admin/v1/usage/gateways',
  'GET /admin/v1/usage/archive',
  'GET /admin/v1/usage/archive/verify',
  'POST /admin/v1/plans/rehearse',
];
const KEYS = [
  'POST /admin/v1/keys',
  'PATCH /admin/v1/keys/{id}',
  'DELETE /admin/v1/keys/{id}',
  'POST /admin/v1/keys/{id}/rotate',
  'POST /admin/v1/keys/{id}/grants',
  'DELETE /admin/v1/keys/{id}/grants/{grant}',
  'POST /admin/v1/customers/{id}/grants',
  'DELETE /admin/v1/customers/{id}/grants/{grant}',
  'POST /admin/v1/keys/import',
  'PUT /admin/v1/bans/{id}',
  'DELETE /admin/v1/bans/{id}',
  'GET /admin/v1/bans/addresses',
  'DELETE /admin/v1/bans/addresses/{id}',
  'POST /admin/v1/customers',
  'PATCH /admin/v1/customers/{id}',
  'DELETE /admin/v1/customers/{id}',
  'PUT /admin/v1/customers/{id}/bans',
  'DELETE /admin/v1/customers/{id}/bans',
  'POST /admin/v1/events/{id}/redeliver',
];

/** What each role may ask for, said once more by hand: a route in no list is an operator's. */
const MAY: Readonly<Record<Role, readonly string[]>> = {
  read: [...PROBES, ...ANYBODY, ...READ],
  billing: [...PROBES, ...ANYBODY, ...BILLING],
  keys: [...PROBES, ...ANYBODY, ...READ, ...KEYS],
  operator: ROUTES.map(({ method, path }) => `${method} ${path}`),
};

t.test('every role passes where it may, and meets 403 everywhere else', async (t) => {
  const { ask } = await listen(t);
  for (const role of ROLES) {
    const { token } = (await ask('POST', '/admin/v1/tokens', { name: role, role })).json;
    const headers = bearer(token);
    const passed: string[] = [];
    for (const { method, path } of ROUTES) {
      const to = path.replace('{id}', 'abcdefghijkl').replace('{grant}', '2');
      const reply = await ask(method, to, undefined, headers);
      if (reply.status !== 403) passed.push(`${method} ${path}`);
      else t.match(reply.json, { code: 'insufficient_role', message: `this one has the role ${role}` });
      t.not(reply.status, 401, `${role} ${method} ${path}`);
      // Not even HEAD tells more than GET would.
      if (method === 'GET') {
        const head = await ask('HEAD', to, undefined, headers);
        t.equal(head.status, reply.status, `${role} HEAD ${path}`);
      }
    }
    t.same(passed.sort(), [...MAY[role]].sort(), role);
    t.equal((await ask('GET', '/admin/v1/nothing', undefined, headers)).status, 404);
    t.equal((await ask('PUT', '/admin/v1/tokens', undefined, headers)).status, 405);
  }
});

t.test('a route without a role does not compile', (t) => {
  // This line would not, if such a route did.
  const compiles: Omit<Action, 'role'> extends Action ? true : false = false;
  t.equal(compiles, false);
  t.end();
});

t.test('only probes are open', (t) => {
  const open = ROUTES.filter(({ role }) => role === 'open').map(({ method, path }) => `${method} ${path}`);
  t.same(open.sort(), [...PROBES].sort());
  t.end();
});

t.test('403 says which role is needed', async (t) => {
  const { ask } = await listen(t);
  const tokenOf = async (role: Role): Promise<string> =>
    String((await ask('POST', '/admin/v1/tokens', { name: role, role })).json['token']);
  const [read, billing] = [await tokenOf('read'), await tokenOf('billing')];
  const refused = await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'x' }, bearer(read));
  t.match(refused, { status: 403, json: { code: 'insufficient_role', status: 403 } });
  t.match(
    refused.json['message'],
    'needs an admin token with the role keys or operator, and this one has the role read',
  );
  t.equal(refused.headers['www-authenticate'], undefined);
  t.match(await ask('GET', '/admin/v1/usage', undefined, bearer(read)), {
    status: 403,
    json: { code: 'insufficient_role', message: 'role billing or operator' },
  });
  t.equal((await ask('GET', '/admin/v1/usage', undefined, bearer(billing))).status, 200);
});
