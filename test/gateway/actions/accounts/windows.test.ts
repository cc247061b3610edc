import t from 'tap';
import { requestWith } from '../../accounts/store.js';
import { listen } from '../../admin/listener.js';

t.test('what is left to a key is what its next answer would show, and to look costs nothing', async (t) => {
  const { ask, engine } = await listen(t);
  const { id, key } = (await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'My app' })).json;
  await engine.admit([requestWith(key, { cost: 3 })]);
  const path = `/admin/v1/keys/${String(id)}/windows`;
  const used = /^\d{4}-\d{2}-\d{2}$/;
  for (const look of ['first', 'second'])
    t.match(
      (await ask('GET', path)).json,
      {
        ...{ key: id, used },
        windows: [
          { window: 'minute', limit: 60, remaining: 57 },
          { window: 'day', remaining: 997 },
        ],
      },
      look,
    );
  await ask('DELETE', `/admin/v1/keys/${String(id)}`);
  t.match((await ask('GET', path)).json, { key: id, windows: [], used });
  const { id: unused } = (await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'New' })).json;
  t.equal((await ask('GET', `/admin/v1/keys/${String(unused)}/windows`)).json['used'], null);
  t.equal((await ask('GET', '/admin/v1/keys/zzzzzzzzzzzz/windows')).status, 404);
});
