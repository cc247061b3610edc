import { createHash } from 'node:crypto';
import t from 'tap';
import { ADMIN_TOKEN, bearer, listen } from '../../admin/listener.js';

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

t.test('200: what is exported can be imported elsewhere, and exports the same there', async (t) => {
  const { ask } = await listen(t);
  const made = await ask('POST', '/admin/v1/keys', {
    plan: 'enterprise',
    name: 'Big',
    note: 'n',
    limits: { minute: 5, day: 'unlimited' },
    scopes: ['pets:read'],
    expires: '2030-12-05',
  });
  await ask('POST', `/admin/v1/keys/${String(made.json['id'])}/rotate`, { overlap: '1h' });
  const { id: gone } = (await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'Gone' })).json;
  await ask('DELETE', `/admin/v1/keys/${String(gone)}`);
  const { id: off } = (await ask('POST', '/admin/v1/keys', { plan: 'pro', name: 'Off' })).json;
  await ask('PATCH', `/admin/v1/keys/${String(off)}`, { status: 'disabled' });
  const { id: customer } = (await ask('POST', '/admin/v1/customers', { plan: 'pro', name: 'C' })).json;
  await ask('POST', '/admin/v1/keys', { customer, name: 'Theirs' });
  const exported = await ask('GET', '/admin/v1/store/export');
  t.equal(exported.headers['content-type'], 'application/x-ndjson');
  const rest = ({ text }: { text: string }): string => text.slice(text.indexOf('\n'));
  t.same(
    exported.text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { kind: string }).kind),
    ['store', 'customer', 'key', 'key', 'key', 'key', 'end'],
  );
  const elsewhere = await listen(t);
  t.match(await elsewhere.ask('POST', '/admin/v1/store/import', exported.text), {
    status: 200,
    json: { added: 5, changed: 0, unchanged: 0, newer: 0, raised: 0, sums: { customers: 1, keys: 4 } },
  });
  t.equal(rest(await elsewhere.ask('GET', '/admin/v1/store/export')), rest(exported));
  t.match(await elsewhere.ask('POST', '/admin/v1/store/import', exported.text), {
    json: { added: 0, changed: 0, unchanged: 5, newer: 0 },
  });
  const correction = { customer, day: new Date().toISOString().slice(0, 10), units: 7, reason: 'r' };
  await ask('POST', '/admin/v1/usage/corrections', correction);
  const corrected = await ask('GET', '/admin/v1/store/export');
  const formatOf = (text: string): unknown =>
    (JSON.parse(text.slice(0, text.indexOf('\n'))) as { format: unknown }).format;
  t.same([formatOf(exported.text), formatOf(corrected.text)], [1, 2], '0.3 would lose corrections');
  t.match(await elsewhere.ask('POST', '/admin/v1/store/import', corrected.text), {
    json: { changed: 1, unchanged: 4 },
  });
  t.match((await elsewhere.ask('GET', '/admin/v1/usage/corrections')).text, '"units":7');
});

t.test('400: invalid lines are all named, and the answer arrives although there is more to send', async (t) => {
  const { ask } = await listen(t, {}, { acceptImported: true });
  const good = Array.from({ length: 60_000 }, (_, n) =>
    JSON.stringify({ hash: hashOf(`old ${n}`), plan: 'free', name: 'x' }),
  );
  const lines = ['{"plan":"por"}', 'x', good[0], good[1], good[0]].join('\n');
  const problems = ['line 1: plan: there is no plan "por"', 'line 1: name: is required', 'line 2: is not valid JSON'];
  const checked = await ask('POST', '/admin/v1/keys/import?check=true', lines);
  t.match(checked, { status: 400, json: { code: 'invalid_import', status: 400 } });
  for (const words of ['Nothing was imported', ...problems]) t.match(checked.json['message'], words);
  t.equal((await ask('GET', '/admin/v1/keys')).text, '{"keys":[],"cursor":null}');
  t.match(await ask('POST', '/admin/v1/keys/import?check=true', good.slice(0, 300).join('\n')), {
    json: { imported: 300, unchanged: 0 },
  });
  t.match(await ask('POST', '/admin/v1/keys/import', `${'x\n'.repeat(2_000)}${good.join('\n')}`), {
    status: 400,
    json: { code: 'invalid_import' },
  });
  t.equal((await ask('POST', '/admin/v1/keys/import', good.join('\n'), {})).status, 401);
  t.equal((await ask('GET', '/admin/v1/keys')).text, '{"keys":[],"cursor":null}', 'of all this nothing was imported');
  const refused = await ask('POST', '/admin/v1/keys/import', lines);
  t.match(refused, { status: 400, json: { code: 'invalid_import', status: 400 } });
  for (const words of ['2 keys were imported, 1 were here already', ...problems])
    t.match(refused.json['message'], words);
  t.match(await ask('POST', '/admin/v1/keys/import', ''), { status: 200, json: { imported: 0 } });
  t.equal((await ask('PUT', '/admin/v1/keys/import')).headers.allow, 'POST');
});

t.test('history names who changed what, from what, to what', async (t) => {
  const { ask, logged } = await listen(t);
  const as = (actor: string) => bearer(ADMIN_TOKEN, actor);
  const { id } = (await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'My app' }, as('zoe@example.com'))).json;
  const path = `/admin/v1/keys/${String(id)}`;
  await ask('PATCH', path, { plan: 'pro', expires: '2030-12-05' }, as('Max Muster'));
  await ask('PUT', `/admin/v1/bans/${String(id)}`, { for: '1h', reason: 'too eager' }, as('night shift'));
  t.match((await ask('GET', `/admin/v1/bans/${String(id)}`)).json, { reason: 'too eager', by: 'night shift' });
  await ask('DELETE', path);
  const { history } = (await ask('GET', `${path}/history`)).json as { history: Record<string, unknown>[] };
  t.same(
    history.map(({ actor, action }) => [actor, action]),
    [
      ['zoe@example.com', 'created'],
      ['Max Muster', 'changed'],
      ['night shift', 'banned'],
      ['admin-api', 'revoked'],
    ],
  );
  t.same(history[1]?.['changed'], {
    plan: { from: 'free', to: 'pro' },
    expires: { from: null, to: '2030-12-05T00:00:00.000Z' },
  });
  t.same(history[3]?.['changed'], { status: { from: 'enabled', to: 'revoked' } });
  t.match(logged(), `"key":"${String(id)}"`);
  for (const actor of ['', 'x'.repeat(65), 'a\tb', 'ptg_staging_x', 'é']) {
    t.match(
      await ask('PATCH', path, { plan: 'pro' }, as(actor)),
      { status: 400, json: { code: 'invalid_actor' } },
      actor,
    );
  }
});
