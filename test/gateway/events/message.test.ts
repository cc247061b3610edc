import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { messageOf } from '../../../src/gateway/events/message.js';
import { packageRoot } from '../../../src/shared/package-root.js';
import { goodSignatures } from '../../servers/receiver.js';

const EVENT = {
  id: 'abcdefghijkl-ABCDEFGHIJKL',
  type: 'petgate.key.changed',
  atMs: Date.UTC(2026, 10, 21, 12),
  data: { customer: null, key: 'abcdefghijkl', plan: 'pro', changed: ['plan'] },
} as const;

t.test('a message is a CloudEvent, signed as Standard Webhooks says', (t) => {
  // The example of the specification's own libraries.
  const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  const { headers, body } = messageOf(EVENT, '/petgate/production', [key], 1_614_265_330_999);
  t.same(JSON.parse(body), {
    specversion: '1.0',
    id: EVENT.id,
    source: '/petgate/production',
    type: EVENT.type,
    subject: 'abcdefghijkl',
    time: '2026-11-21T12:00:00.000Z',
    datacontenttype: 'application/json',
    data: EVENT.data,
  });
  t.match(headers, {
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'webhook-id': EVENT.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': /^v1,[A-Za-z0-9+/]{43}=$/,
  });
  t.same(goodSignatures({ headers, body }, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'), [true]);
  t.same(goodSignatures({ headers, body: `${body} ` }, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'), [false]);
  t.end();
});

t.test('during a rotation both secrets sign, and a repeat has the same id and body', (t) => {
  const keys = [Buffer.alloc(32, 'n'), Buffer.alloc(32, 'o')];
  const [now, later] = [messageOf(EVENT, '/x', keys, 1_000), messageOf(EVENT, '/x', keys, 86_400_000)];
  for (const [place, key] of keys.entries())
    t.same(
      goodSignatures(now, `whsec_${key.toString('base64')}`),
      keys.map((_, n) => n === place),
    );
  t.equal(later.body, now.body);
  t.equal(later.headers['webhook-id'], now.headers['webhook-id']);
  t.not(later.headers['webhook-signature'], now.headers['webhook-signature']);
  t.end();
});

t.test('the example of the guide takes what is signed, and nothing else', async (t) => {
  const guide = readFileSync(join(packageRoot, 'docs/guides/events.md'), 'utf8');
  const [, example = ''] = /^```js\n([^]*?)^```$/m.exec(guide) ?? [];
  const file = join(t.testdir({}), 'verify.mjs');
  writeFileSync(file, example);
  const { verify } = (await import(pathToFileURL(file).href)) as {
    verify: (headers: Readonly<Record<string, string>>, body: string, secret: string) => { id: string };
  };
  const keys = [Buffer.alloc(32, 'n'), Buffer.alloc(32, 'o')];
  const [secret, old, other] = [...keys, Buffer.alloc(32, 'x')].map((key) => `whsec_${key.toString('base64')}`);
  const { headers, body } = messageOf(EVENT, '/x', keys, Date.now());
  t.equal(verify(headers, body, secret!).id, EVENT.id);
  t.equal(verify(headers, body, old!).id, EVENT.id);
  t.throws(() => verify(headers, body, other!), { message: 'wrong signature' });
  t.throws(() => verify(headers, body.replace('pro', 'free'), secret!), { message: 'wrong signature' });
  t.throws(() => verify({ ...headers, 'webhook-signature': '' }, body, secret!), { message: 'wrong signature' });
  const stale = messageOf(EVENT, '/x', keys, Date.now() - 3_600_000);
  t.throws(() => verify(stale.headers, stale.body, secret!), { message: 'too old, or from the future' });
});
