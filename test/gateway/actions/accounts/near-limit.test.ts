import t from 'tap';
import { requestWith } from '../../accounts/store.js';
import { listen } from '../../admin/listener.js';

t.test('keys that used most of a window are found among many, page by page, each once', async (t) => {
  const { ask, engine, registry } = await listen(t);
  const near: string[] = [];
  for (let n = 0; n < 260; n += 1) {
    const { record, token } = await registry.create({ plan: 'free', name: `key ${n}` });
    const cost = n % 26 === 0 ? 48 : n % 13 === 0 ? 47 : 1;
    await engine.admit([requestWith(token, { cost })]);
    if (cost === 48) near.push(record.id);
  }
  for (const order of ['id', 'newest']) {
    const found: string[] = [];
    for (let cursor: string | null = '', pages = 0; cursor !== null && pages < 20; pages += 1) {
      const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { json } = await ask('GET', `/admin/v1/keys?used=80&limit=3&order=${order}${after}`);
      const keys = json['keys'] as readonly { readonly id: string }[];
      t.ok(keys.length <= 3, 'never more than asked for');
      found.push(...keys.map(({ id }) => id));
      cursor = json['cursor'] as string | null;
    }
    t.strictSame(found.toSorted(), near.toSorted(), order);
  }
  const all = await ask('GET', '/admin/v1/keys?used=1&limit=1000');
  t.equal((all.json['keys'] as unknown[]).length, 260);
  for (const used of ['0', '101', 'x', '8.5'])
    t.match(await ask('GET', `/admin/v1/keys?used=${used}`), { status: 400, json: { message: /used: must be/ } });
});

t.test('to look uses nothing, and revoked keys have no windows', async (t) => {
  const { ask, registry } = await listen(t);
  const { record } = await registry.create({ plan: 'free', name: 'one' });
  await registry.revoke((await registry.create({ plan: 'free', name: 'ended' })).record.id);
  for (let n = 0; n < 3; n += 1) t.match((await ask('GET', '/admin/v1/keys?used=1')).json, { keys: [], cursor: null });
  t.match((await ask('GET', `/admin/v1/keys/${record.id}/windows`)).json, { windows: [{ remaining: 60 }, {}] });
});
