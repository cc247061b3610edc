import t from 'tap';
import { ADMIN_TOKEN, bearer, listen } from '../../admin/listener.js';

t.test(
  'every change is in the audit with its actor and record, the last first, and nothing that only read',
  async (t) => {
    const { ask } = await listen(t);
    const as = (actor: string) => bearer(ADMIN_TOKEN, actor);
    const { id } = (await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'Shop' }, as('ann'))).json;
    await ask('PATCH', `/admin/v1/keys/${String(id)}`, { name: 'New' }, as('bob'));
    await ask('PATCH', `/admin/v1/keys/${String(id)}`, { plan: 'no such plan' }, as('bob'));
    await ask('GET', `/admin/v1/keys/${String(id)}`);
    await ask('DELETE', `/admin/v1/keys/${String(id)}`, undefined, as('ann'));
    const audit = async (query = ''): Promise<readonly Record<string, unknown>[]> =>
      (await ask('GET', `/admin/v1/audit${query}`)).json['changes'] as never;
    t.match(await audit(), [
      { actor: 'ann', kind: 'key', id, status: 204 },
      { actor: 'bob', action: /change/i, kind: 'key', id, status: 200 },
      { actor: 'ann', action: /create/i, kind: 'key', id, status: 201 },
    ]);
    t.equal((await audit()).length, 3);
    t.equal((await audit('?search=ANN')).length, 2, 'by actor');
    t.equal((await audit(`?search=${String(id).toUpperCase()}`)).length, 3, 'by the ID of the record');
    t.equal((await audit('?search=ann+key')).length, 2, 'by each of the words');
    t.equal((await audit('?search=ann+customer')).length, 0);
    t.equal((await audit('?limit=1')).length, 1);
    t.match(await ask('GET', '/admin/v1/audit?limit=0'), { status: 400 });
  },
);

t.test('a wrong admin token is in the audit with its address, never with the token', async (t) => {
  const { ask } = await listen(t);
  for (let n = 0; n < 15; n += 1) await ask('GET', '/admin/v1/keys', undefined, bearer('pta_wrong_secret'));
  await ask('GET', '/admin/v1/keys', undefined, {});
  const { json } = await ask('GET', '/admin/v1/audit');
  t.match(json['refused'], [{ address: '127.0.0.1' }]);
  const { length } = json['refused'] as readonly object[];
  t.ok(length >= 10 && length < 15, `${length}: no more than are answered 401`);
  t.notMatch(JSON.stringify(json), 'wrong_secret');
});
