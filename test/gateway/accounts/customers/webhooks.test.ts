import t from 'tap';
import type { Test } from 'tap';
import { openRegistry, openStore } from '../store.js';
import type { KeyRegistry } from '../../../../src/gateway/accounts/registry.js';

const URL_OF_SHOP = 'https://hooks.shop.example/petgate?token=hidden';

async function open(
  t: Test,
  customerNetworks: readonly string[] = [],
): Promise<{
  readonly registry: KeyRegistry;
  readonly id: string;
  readonly changes: () => Promise<readonly unknown[]>;
}> {
  const registry = openRegistry(openStore(t).engine, { events: { customerNetworks } });
  const { id } = await registry.customers.create({ plan: 'free', name: 'shop' }, 'Max');
  return { registry, id, changes: async () => (await registry.customers.history(id)).map(({ changed }) => changed) };
}

t.test('a webhook is set, moved, rotated and removed, and its history says no address and no secret', async (t) => {
  const { registry, id, changes } = await open(t);
  const { webhooks } = registry;
  const first = await webhooks.set(id, { url: URL_OF_SHOP }, 'Max');
  t.match(first.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.same(await webhooks.get(id), { url: URL_OF_SHOP, secrets: [{ secret: first.secret, endsAtMs: null }] });
  t.equal((await webhooks.set(id, { url: URL_OF_SHOP }, 'Max')).secret, null, 'nothing to change');
  const moved = await webhooks.set(id, { url: 'https://elsewhere.example/' }, 'Max');
  t.equal(moved.secret, null, 'the secret stays');
  const next = await webhooks.rotate(id, 3_600_000, 'Max');
  t.not(next.secret, first.secret);
  const { secrets } = await webhooks.get(id);
  t.match(secrets, [
    { secret: next.secret, endsAtMs: null },
    { secret: first.secret, endsAtMs: Number },
  ]);
  await webhooks.rotate(id, 0, 'Max');
  t.equal((await webhooks.get(id)).secrets.length, 1, 'the old ones end at once');
  await webhooks.remove(id, 'Max');
  await t.rejects(webhooks.get(id), { name: 'KeyRefused', kind: 'no_webhook' });
  t.same(
    (await changes()).slice(1).map((changed) => (changed as { webhook: unknown }).webhook),
    ['set', 'moved', 'rotated', 'rotated', 'removed'],
  );
  t.notMatch(JSON.stringify(await changes()), /whsec_|hidden|example/);
});

t.test('what is wrong is told, and nothing changes', async (t) => {
  const { registry, id, changes } = await open(t);
  const { webhooks } = registry;
  for (const [body, words] of [
    [{}, /url: is required/],
    [{ url: 7 }, /url: must be an address such as/],
    [{ url: 'hooks.shop.example' }, /url: must be an address/],
    [{ url: 'https://user:hidden@hooks.shop.example/' }, /without user, password and fragment/],
    [{ url: 'http://hooks.shop.example/' }, /must begin with https/],
    [{ url: 'https://10.1.2.3/' }, /not lead to a local address/],
    [{ url: URL_OF_SHOP, secret: 'x' }, /unknown field "secret"/],
  ] as const) {
    const refused = await webhooks.set(id, body, 'Max').catch((error: unknown) => error);
    t.match(refused, { name: 'KeyRefused', kind: 'invalid', message: words });
    t.notMatch(String(refused), 'hidden');
  }
  await t.rejects(webhooks.set('nobody00', { url: URL_OF_SHOP }, 'Max'), { name: 'KeyRefused', kind: 'no_customer' });
  await t.rejects(webhooks.rotate(id, 0, 'Max'), { name: 'KeyRefused', kind: 'no_webhook' });
  await t.rejects(webhooks.remove(id, 'Max'), { name: 'KeyRefused', kind: 'no_webhook' });
  await webhooks.set(id, { url: URL_OF_SHOP }, 'Max');
  for (const overlap of [-1, 91 * 86_400_000, Number.NaN])
    await t.rejects(webhooks.rotate(id, overlap, 'Max'), { name: 'KeyRefused', kind: 'invalid' });
  t.equal((await changes()).length, 2);
});

t.test(
  'plain HTTP and local addresses are for networks that are given; without events there is no webhook',
  async (t) => {
    const { registry, id } = await open(t, ['127.0.0.0/8']);
    t.match((await registry.webhooks.set(id, { url: 'http://127.0.0.1:8080/x' }, 'Max')).secret, 'whsec_');
    for (const url of ['http://10.0.0.1/', 'https://[::1]/'])
      await t.rejects(registry.webhooks.set(id, { url }, 'Max'), {
        message: /unless events\.customer_networks has that/,
      });
    const off = openRegistry(openStore(t).engine);
    const { id: other } = await off.customers.create({ plan: 'free', name: 'shop' }, 'Max');
    await t.rejects(off.webhooks.set(other, { url: URL_OF_SHOP }, 'Max'), {
      name: 'KeyRefused',
      kind: 'conflict',
      message: /events are off/,
    });
  },
);
