import t from 'tap';
import type { Webhook } from '../../../src/gateway/admission/customers/webhook.js';
import { copyFor } from '../../../src/gateway/admission/events/outbox.js';
import type { GatewayEvent } from '../../../src/gateway/admission/events/outbox.js';
import { newSigningSecret } from '../../../src/gateway/admission/events/signing-key.js';
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
  const senderTo = (url: string) => ({
    send: ({ headers, body }: Pick<Sent, 'headers' | 'body'>) => {
      sent.push({ url, headers, body });
      return Promise.resolve(answer(url));
    },
    close: () => Promise.resolve(void closed.push(url)),
  });
  const receivers = new Receivers({
    sender: senderTo('operators'),
    keys: [KEY],
    customers: { webhook: (id) => Promise.resolve(webhooks.get(id)) },
    senderTo,
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

t.test('a webhook that fails is tried with one event at a time', async (t) => {
  let answer: (outcome: Outcome) => void = () => undefined;
  const hang = (): Promise<Outcome> => new Promise((resolve) => (answer = resolve));
  const webhook = { url: 'shop', secrets: [{ secret: newSigningSecret(), endsAtMs: null }] };
  const { receivers } = open(new Map([['customer', webhook]]), (url) =>
    url === 'shop' ? hang() : { kind: 'delivered' },
  );
  const copy = copyFor(eventAbout('customer'), 'customer');
  const finish = async (outcome: Outcome): Promise<void> => {
    const sending = receivers.send(copy);
    await new Promise(setImmediate);
    answer(outcome);
    t.same(await sending, outcome);
  };
  const underWay = async (): Promise<boolean> => {
    const sending = receivers.send(copy);
    await new Promise(setImmediate);
    const isBusy = receivers.isBusy(copy);
    answer({ kind: 'stopped' });
    await sending;
    return isBusy;
  };
  t.equal(await underWay(), false, 'as many as there are, while it takes them');
  await finish({ kind: 'failed', reason: 'it answered 500' });
  t.equal(receivers.isBusy(copy), false, 'somebody has to try');
  t.equal(await underWay(), true);
  t.equal(receivers.isBusy(eventAbout('customer')), false, 'the operators are somebody else');
  await finish({ kind: 'delivered' });
  t.equal(await underWay(), false);
});

t.test('senders are closed with it, and the oldest when there are many', async (t) => {
  const secrets = [{ secret: newSigningSecret(), endsAtMs: null }];
  const webhooks = new Map(Array.from({ length: 70 }, (_, n) => [`customer${n}`, { url: `shop ${n}`, secrets }]));
  const { receivers, closed } = open(webhooks, () => ({ kind: 'delivered' }));
  for (const id of webhooks.keys()) await receivers.send(copyFor(eventAbout(id), id));
  t.same(closed, ['shop 0', 'shop 1', 'shop 2', 'shop 3', 'shop 4', 'shop 5']);
  await receivers.close();
  t.equal(closed.length, 71);
});
