import t from 'tap';
import { judge } from '../../accounts/store.js';
import { listen, walk } from '../../admin/listener.js';

t.test('a ban set and lifted by hand holds on the very next admission and stands in the history', async (t) => {
  const { ask, engine } = await listen(t);
  const { id, key } = (await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'My app' })).json;
  const path = `/admin/v1/bans/${String(id)}`;
  t.match(await ask('GET', path), { status: 404, json: { code: 'not_banned' } });
  const beforeMs = Date.now();
  const started = await ask('PUT', path, { for: '1h', reason: 'too eager' });
  t.match(started, { status: 200, json: { key: id, level: 1, reason: 'too eager', by: 'admin-api' } });
  const untilMs = Date.parse(String(started.json['until']));
  t.ok(untilMs >= beforeMs + 3_600_000 && untilMs <= Date.now() + 3_600_000);
  t.equal(await judge(engine, key), 'banned');
  t.same((await ask('GET', path)).json, started.json);
  t.same((await ask('GET', '/admin/v1/bans')).json, { bans: [started.json], cursor: null });
  t.equal((await ask('DELETE', path)).status, 204);
  t.equal(await judge(engine, key), 'admitted');
  t.match(await ask('DELETE', path), { status: 404, json: { code: 'not_banned' } });
  t.same((await ask('GET', '/admin/v1/bans')).json, { bans: [], cursor: null });
  const history = (await ask('GET', `/admin/v1/keys/${String(id)}/history`)).json['history'] as {
    action: string;
    changed: { reason?: string };
  }[];
  t.equal(history.find(({ action }) => action === 'banned')?.changed.reason, 'too eager');
  t.ok(history.some(({ action }) => action === 'lifted'));
});

t.test('bans are listed page by page, each once', async (t) => {
  const { ask } = await listen(t);
  const banned: string[] = [];
  for (let index = 0; index < 6; index += 1) {
    const { id } = (await ask('POST', '/admin/v1/keys', { plan: 'free', name: `app ${index}` })).json;
    if (index % 2 === 0) {
      await ask('PUT', `/admin/v1/bans/${String(id)}`, { for: '5m' });
      banned.push(String(id));
    }
  }
  const seen = await walk({ ask }, '/admin/v1/bans?limit=1', 'bans');
  t.same(
    seen.map(({ key }) => key),
    banned.sort(),
  );
});

t.test('bans of addresses: listed and lifted in any spelling, and never in the log', async (t) => {
  const { ask, engine, logged } = await listen(t);
  const addresses = ['192.0.2.7', '2001:db8:7:1', '2001:db8:7:2'];
  for (const address of addresses)
    await engine.admit(
      Array.from({ length: 400 }, () => ({
        subject: { kind: 'address' as const, address },
        ...{ operation: 'listPets', scope: null, cost: 1 },
      })),
    );
  const listed = async () =>
    (await walk({ ask }, '/admin/v1/bans/addresses?limit=1', 'bans')).map(({ address }) => address).sort();
  t.same(await listed(), ['192.0.2.7', '2001:db8:7:1::/64', '2001:db8:7:2::/64']);
  const lift = async (address: string): Promise<number> =>
    (await ask('DELETE', `/admin/v1/bans/addresses/${encodeURIComponent(address)}`)).status;
  for (const address of ['::ffff:192.0.2.7', '2001:DB8:7:1::/64', '2001:db8:7:2:1::9']) {
    t.equal(await lift(address), 204, address);
    t.equal(await lift(address), 404, address);
  }
  t.same(await listed(), []);
  for (const strange of ['localhost', '192.0.2.7/64', '192.0.2', '2001:db8:7:1', '~', 'abcdefghijkl'])
    t.equal(await lift(strange), 400, strange);
  t.equal((await ask('GET', '/admin/v1/bans/addresses?cursor=e30')).status, 400);
  t.match(logged(), /"route":"\/admin\/v1\/bans\/addresses\/\{id\}","status":204/);
  t.notMatch(logged(), /192\.0\.2|db8/i);
});

t.test('400, 404: what is no ban', async (t) => {
  const { ask } = await listen(t);
  const { id } = (await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'x' })).json;
  for (const body of [
    {},
    { for: '' },
    { for: 60 },
    { for: '0s' },
    { for: '900d' },
    { for: '1 h' },
    { for: '1h', reason: 5 },
    { for: '1h', reason: 'x'.repeat(201) },
    { for: '1h', why: 'x' },
    { for: '1h', reason: 'used ptg_staging_x' },
  ]) {
    t.match(
      await ask('PUT', `/admin/v1/bans/${String(id)}`, body),
      { status: 400, json: { code: 'invalid_fields' } },
      JSON.stringify(body),
    );
  }
  t.equal((await ask('PUT', '/admin/v1/bans/abcdefghijkl', { for: '1h' })).status, 404);
  t.equal((await ask('GET', '/admin/v1/bans')).text, '{"bans":[],"cursor":null}');
});
