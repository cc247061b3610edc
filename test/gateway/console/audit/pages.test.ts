import t from 'tap';
import { openConsole } from '../visitor.js';

t.test('the audit shows who changed what, leads to the record, and is searched', async (t) => {
  const { ask, visitor, signedIn } = await openConsole(t);
  await visitor().signIn('pta_wrong');
  const { get, submit } = await signedIn();
  const { id } = (await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'Shop' })).json;
  const path = `/console/keys/${String(id)}`;
  await submit(path, `${path}/disabled`);
  const { text } = await get('/console/audit');
  t.match(text, `<a href="${path}">key ${String(id)}</a>`);
  t.match(text, 'aria-current="page">Audit');
  t.match(text, /Wrong admin tokens[^]*127\.0\.0\.1/);
  t.match((await get('/console/audit?search=nothing')).text, 'No matches.');
  t.match((await get(`/console/audit?search=${String(id).slice(2)}`)).text, path);
});

t.test('only operators see the audit', async (t) => {
  const { get } = await (await openConsole(t)).signedIn('read');
  t.notMatch((await get('/console/')).text, '/console/audit');
  t.equal((await get('/console/audit')).status, 403);
});
