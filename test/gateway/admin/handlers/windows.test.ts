import t from 'tap';
import { parseToken } from '../../../../src/gateway/accounts/token.js';
import { listen } from '../listener.js';

t.test('what is left to a key is what its next answer would show, and to look costs nothing', async (t) => {
  const { ask, engine } = await listen(t);
  const { id, key } = (await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'My app' })).json;
  const parts = parseToken(String(key), 'staging', false)!;
  await engine.admit([{ subject: { kind: 'key', ...parts }, operation: 'listPets', scope: null, cost: 3 }]);
  const path = `/admin/v1/keys/${String(id)}/windows`;
  for (const look of ['first', 'second'])
    t.match(
      (await ask('GET', path)).json,
      {
        key: id,
        windows: [
          { window: 'minute', limit: 60, remaining: 57 },
          { window: 'day', remaining: 997 },
        ],
      },
      look,
    );
  await ask('DELETE', `/admin/v1/keys/${String(id)}`);
  t.same((await ask('GET', path)).json, { key: id, windows: [] });
  t.equal((await ask('GET', '/admin/v1/keys/zzzzzzzzzzzz/windows')).status, 404);
});
