import t from 'tap';
import { startTunnelFront } from '../../../servers/tunnel-front.js';
import { until } from '../../../servers/until.js';
import { startWebSocketUpstream } from '../../../servers/websocket.js';

t.test('a key that is no longer good loses its tunnels within seconds, and no other does', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const front = await startTunnelFront(t, { addresses: [upstream.url] });
  const { gateway } = front;
  const changes: Readonly<Record<string, (id: string) => Promise<{ status: number }>>> = {
    revoked: (id) => gateway.admin('DELETE', `/admin/v1/keys/${id}`),
    disabled: (id) => gateway.admin('PATCH', `/admin/v1/keys/${id}`, { status: 'disabled' }),
    banned: (id) => gateway.admin('PUT', `/admin/v1/bans/${id}`, { for: '1h', reason: 'test' }),
    'without the scope': (id) => gateway.admin('PATCH', `/admin/v1/keys/${id}`, { scopes: ['pets:write'] }),
  };
  const other = await front.open(front.key);
  const limited = await gateway.createKey({ plan: 'tiny' });
  const spent = await front.open(`Authorization: Bearer ${limited.key}`);
  const losers = await Promise.all(
    [
      ...Object.entries(changes).map(([name, change]) => ({ name, change, plan: 'free' })),
      { name: 'banned, where it costs nothing', change: changes['banned']!, plan: 'gratis' },
      { name: 'without the scope, and its minute is spent', change: changes['without the scope']!, plan: 'tiny' },
    ].map(async ({ name, change, plan }) => {
      const made = await gateway.createKey({ plan });
      return { name, made, change, client: await front.open(`Authorization: Bearer ${made.key}`) };
    }),
  );
  t.same(
    losers.map(({ client }) => client.answer.status),
    [101, 101, 101, 101, 101, 101],
  );
  for (const { name, made, change } of losers) {
    const { status } = await change(made.id);
    t.ok(status < 300, `${name}: ${status}`);
  }
  await until('their tunnels are closed', () => losers.every(({ client }) => client.closed()));
  await until(
    'the log mentions them',
    () => gateway.program.lines().filter(({ closedBy }) => closedBy === 'key').length === 6,
  );
  const banned = losers.find(({ name }) => name === 'banned, where it costs nothing')!.made;
  t.equal((await front.open(`Authorization: Bearer ${banned.key}`)).answer.status, 429, 'nor does it get another');
  t.notOk(other.closed(), 'a valid key keeps its tunnel');
  t.equal(spent.answer.headers.get('x-ratelimit-remaining'), '0');
  t.notOk(spent.closed(), 'and so does one that may begin no other');
  const today = new Date().toISOString().slice(0, 10);
  const usage = await gateway.admin('GET', `/admin/v1/usage?by=operation&format=json&from=${today}&to=${today}`);
  t.match(
    usage.body,
    { rows: [{ operation: 'watchPets', requests: 7, limited: 0, banned: 0 }] },
    'being asked again costs nothing, and is counted nowhere',
  );
});
