import t from 'tap';
import { rolesFor } from '../../../src/gateway/actions/access/roles.js';
import { PAGES } from '../../../src/gateway/console/pages.js';
import { ROLES } from '../../../src/gateway/store/records/admin-token.js';
import { hiddenIn, openConsole } from './visitor.js';

t.test('each page and each form is for the roles of its route, and says so to others', async (t) => {
  const { registry, signedIn } = await openConsole(t);
  const { record } = await registry.create({ plan: 'free', name: 'App' });
  const customer = await registry.customers.create({ plan: 'free', name: 'Shop' }, 'test');
  const asked = PAGES.filter(({ role }) => role !== 'open').map((page) => ({
    ...page,
    path: page.path
      .replace('/runbooks/{id}', '/runbooks/PetgateDown')
      .replace('{id}', page.path.includes('/customers/') ? customer.id : record.id)
      .replace('{part}', 'nothing'),
  }));
  t.ok(asked.length > 40, `${asked.length} pages and forms`);
  for (const role of ROLES) {
    const { get, post } = await signedIn(role);
    const { form = '' } = hiddenIn((await get('/console/')).text, '/console/sign-out');
    for (const { method, path, role: access } of asked) {
      const isForm = method === 'POST';
      // Of this session, but nameless: nothing comes of it.
      const { status, text } = isForm ? await post(path, { form }) : await get(path);
      const may = rolesFor(access).includes(role);
      const line = `${role}: ${method} ${path}`;
      if (may && !isForm) t.ok([200, 303].includes(status), line);
      else t.match({ status, text }, { status: 403, text: may ? 'forged_form' : 'insufficient_role' }, line);
    }
  }
});
