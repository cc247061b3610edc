import t from 'tap';
import type { Webhook } from '../../../src/gateway/store/records/webhook.js';
import { banEvent } from '../../../src/gateway/store/outbox/facts.js';
import { AFTER_REFUSALS, copyFor, type GatewayEvent } from '../../../src/gateway/store/outbox/event.js';
import { newSigningSecret } from '../../../src/gateway/accounts/customers/signing-key.js';
import { messageOf } from '../../../src/gateway/events/message.js';
import { Receivers } from '../../../src/gateway/events/receivers.js';
import type { Outcome } from '../../../src/gateway/events/send.js';
import { goodSignatures } from '../../servers/receiver.js';

const KEY = Buffer.alloc(32, 'k');

function eventAbout(customer: string | null): GatewayEvent {
  const key = `${customer ?? 'nobodys-'}abcdef`;
  return { id: `${key}-1`, type: 'petgate.key.changed', atMs: 1, data: { customer, key } };
}

interface Sent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function open(webhooks: ReadonlyMap<string, Webhook>, answer: (url: string) => Outcome | Promise<Outcome>) {
  const [sent, closed]: [Sent[], string[]] = [[], []];
  const sender = (name: string) => ({
    send: (url: string, { headers, body }: Pick<Sent, 'headers' | 'body'>) => {
      sent.push({ url, headers, body });
      return Promise.resolve(answer(url));
    },
    close: () => Promise.resolve(void closed.push(name)),
  });
  const receivers = new Receivers({
    url: 'operators',
    sender: sender('operators'),
    keys: [KEY],
    customers: { webhook: (id) => Promise.resolve(webhooks.get(id)) },
    customerSender: sender('customers'),
    messageOf: (event, keys) => messageOf(event, '/petgate/test', keys, Date.now()),
  });
  return { receivers, sent, closed };
}

const signedWith = ({ headers, body }: Sent, secret: string): boolean =>
  goodSignatures({ headers, body }, secret).includes(true);

t.test('an event goes to its customer too, the same one, signed with secrets that are not over', async (t) => {
  const [now, old, over] = [newSigningSecret(), newSigningSecret(), newSigningSecret()];
  const secrets = [
    { secret: now, endsAtMs: null },
    { secret: old, endsAtMs: Date.now() + 60_000 },
    { secret: over, endsAtMs: Date.now() - 1 },
  ];
  const { receivers, sent } = open(new Map([['customer', { url: 'shop', secrets }]]), () => ({ kind: 'delivered' }));
  const event = eventAbout('customer');
  const copy = await receivers.copyOf(event);
  t.same(copy, copyFor(event, 'customer'));
  t.equal(await receivers.copyOf(copy!), undefined, 'a copy has none');
  t.equal(await receivers.copyOf(eventAbout(null)), undefined);
  t.equal(await receivers.copyOf(eventAbout('nobody00')), undefined);
  for (const each of [event, copy!]) t.same(await receivers.send(each), { kind: 'delivered' });
  const [operators, shop] = sent;
  t.same([operators!.url, shop!.url], ['operators', 'shop']);
  t.equal(operators!.body, shop!.body);
  t.equal(shop!.headers['webhook-id'], event.id);
  t.same(
    [now, old, over].map((secret) => signedWith(shop!, secret)),
    [true, true, false],
  );
  t.notOk(signedWith(operators!, now));
  t.same(await receivers.send(copyFor(event, 'nobody00')), { kind: 'unwanted' });
});

t.test('what an operator said of a ban is not for the customer; that it began by itself is', async (t) => {
  const webhooks = new Map([['customer', { url: 'shop', secrets: [] }]]);
  const { receivers } = open(webhooks, () => ({ kind: 'delivered' }));
  const ban = (reason: string | null): GatewayEvent =>
    banEvent('customerabcdef', 'free', { untilMs: 2, level: 1, reason }, 1);
  const copied = async (reason: string | null) => (await receivers.copyOf(ban(reason)))?.data;
  t.match(await copied('Zoë did not pay'), { customer: 'customer', level: 1 });
  t.notOk('reason' in (await copied('Zoë did not pay'))!);
  t.equal((await copied(AFTER_REFUSALS))?.reason, AFTER_REFUSALS);
  t.equal((await copied(null))?.reason, null);
});

t.test('both senders are closed with it', async (t) => {
  const { receivers, closed } = open(new Map(), () => ({ kind: 'delivered' }));
  await receivers.close();
  t.same(closed, ['operators', 'customers']);
});
