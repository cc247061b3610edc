import t from 'tap';
import { openConsole } from '../visitor.js';

const ENDED = '/console/settings/sessions/ended';

const INFO =
  'petgate_info{version="9.9",node="v20",environment="production",plans="aa11",contract="bb22",settings="cc33"} 1\n';

t.test('each setting is shown with where it comes from, and what runs', async (t) => {
  const { visitor } = await openConsole(t, { metrics: () => Promise.resolve(INFO) });
  const { get, signIn } = visitor();
  await signIn();
  const { status, text } = await get('/console/settings');
  t.equal(status, 200);
  for (const wanted of [
    '9.9',
    'aa11',
    'bb22',
    'cc33',
    '<code>store.deadline</code>',
    '<code>plans.free.limits.minute</code>',
  ])
    t.match(text, wanted);
  t.match(text, /gateway\.yaml:\d+/);
});

t.test('who ends all sessions signs everybody out, and takes the role for it', async (t) => {
  const { ask, visitor } = await openConsole(t);
  const { json } = await ask('POST', '/admin/v1/tokens', { name: 'Eve', role: 'read' });
  const [zoe, eve] = [visitor(), visitor()];
  await zoe.signIn();
  await eve.signIn(String(json['token']));
  t.notMatch((await eve.get('/console/settings')).text, 'End all sessions');
  t.equal((await eve.post(ENDED, {})).status, 403);
  t.equal((await zoe.get('/console/')).status, 200, 'nothing came of that');
  t.match(await zoe.submit('/console/settings', ENDED), { status: 200, text: 'Admin token' });
  for (const { get } of [zoe, eve]) t.equal((await get('/console/')).status, 401);
  t.equal((await zoe.signIn()).status, 200);
});
