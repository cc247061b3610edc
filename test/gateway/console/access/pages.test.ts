import t from 'tap';
import { openConsole } from '../visitor.js';

const ACCESS = '/console/access';
const ENDED = '/console/access/sessions/ended';

t.test('an admin token is created, shown once, signs in with its role, and ends when it is revoked', async (t) => {
  const { ask, visitor, signedIn } = await openConsole(t);
  const zoe = await signedIn();
  const fields = { name: '<b>Ann</b>', role: 'read', expires: '' };
  const created = await zoe.submit(ACCESS, `${ACCESS}/created`, fields);
  const [token = ''] = /pta_\w+|ptg_admin_\w+|(?<=class="secret">)[^<]+/.exec(created.text) ?? [];
  t.ok(token.length > 20, 'it is shown');
  const { text } = await zoe.get(ACCESS);
  t.notMatch(text, token, 'and never again');
  t.match(text, '&lt;b>Ann&lt;/b>');
  const ann = visitor();
  t.equal((await ann.signIn(token)).status, 200);
  t.equal((await ann.get(ACCESS)).status, 403, 'for operators only');
  const [{ id } = { id: '' }] = (await ask('GET', '/admin/v1/tokens')).json['tokens'] as { readonly id: string }[];
  t.match((await zoe.submit(ACCESS, `${ACCESS}/revoked`, { id })).text, 'The token is revoked.');
  t.equal((await ann.get('/console/')).status, 401);
  t.match((await zoe.get(ACCESS)).text, 'No admin tokens.');
});

t.test('a token that cannot be created is explained, with what was entered', async (t) => {
  const zoe = await (await openConsole(t)).signedIn();
  const refused = await zoe.submit(ACCESS, `${ACCESS}/created`, { name: 'Ann', role: 'read', expires: 'soon' });
  t.match(refused, { status: 400, text: /<details open.*value="Ann".*value="soon"/s });
  t.match(refused.text, 'must be a date such as');
});

t.test('who ends all sessions signs everybody out, and takes the role for it', async (t) => {
  const { signedIn } = await openConsole(t);
  const [zoe, eve] = [await signedIn(), await signedIn('read')];
  t.equal((await eve.get('/console/access')).status, 403);
  t.equal((await eve.post(ENDED, {})).status, 403);
  t.equal((await zoe.get('/console/')).status, 200, 'nothing came of that');
  t.match(await zoe.submit('/console/access', ENDED), { status: 200, text: 'Admin token' });
  for (const { get } of [zoe, eve]) t.equal((await get('/console/')).status, 401);
  t.equal((await zoe.signIn()).status, 200);
});
