import t from 'tap';
import { RecentExchanges } from '../../../../src/gateway/observe/recent/memory.js';
import { recallHere } from '../../../../src/gateway/observe/recent/recall.js';
import { ADMITTED } from '../../admission/verdict.js';
import { makeExchange } from '../../exchange.js';
import { listen } from '../../admin/listener.js';

t.test('exchanges are found by any request id, with the name of the key as it is now', async (t) => {
  const recent = new RecentExchanges();
  const { ask } = await listen(t, { recall: recallHere(recent) });
  const made = (await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'Before' })).json;
  const keyId = String(made['id']);
  const odd = `${'/+=~.'.repeat(25)}abc`;
  for (const id of ['plain', odd]) {
    const { exchange } = makeExchange({ id });
    exchange.logEntry.verdict = { ...ADMITTED, keyId };
    recent.note(exchange, 200, 1, id === odd);
  }
  await ask('PATCH', `/admin/v1/keys/${keyId}`, { name: 'Now' });
  for (const id of ['plain', odd])
    t.match((await ask('GET', `/admin/v1/exchanges/${encodeURIComponent(id)}`)).json, {
      exchanges: [{ request: id, key: keyId, name: 'Now', customer: null }],
      silentWorkers: 0,
      gateways: [],
    });
  t.match((await ask('GET', '/admin/v1/exchanges/never')).json, { exchanges: [] });
  const { exchanges } = (await ask('GET', `/admin/v1/exchanges?key=${keyId}`)).json;
  t.match(exchanges, [{ request: odd }]);
  t.equal((exchanges as readonly object[]).length, 1, 'those that were neither refused nor failed are not listed');
  t.match(await ask('GET', '/admin/v1/exchanges?key=nobody'), { status: 404 });
  t.match(await ask('GET', '/admin/v1/exchanges'), { status: 400, json: { message: /key: give the id of a key/ } });
});

t.test(
  'who was refused most is listed by response, with the names of keys, and addresses where none was known',
  async (t) => {
    const recent = new RecentExchanges();
    const { ask } = await listen(t, { recall: recallHere(recent) });
    const key = String((await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'Loud' })).json['id']);
    for (let n = 0; n < 3; n += 1) {
      const { exchange } = makeExchange({ id: `of-key-${n}` });
      exchange.logEntry.verdict = { ...ADMITTED, keyId: key };
      recent.note(exchange, 502, 1, true);
    }
    recent.note(makeExchange({ addressBucket: '2001:db8::/64' }).exchange, 401, 1, true);
    recent.note(makeExchange({ id: 'fine' }).exchange, 200, 1, false);
    t.strictSame((await ask('GET', '/admin/v1/refused')).json, {
      refused: [
        { key, name: 'Loud', customer: null, address: null, status: 502, code: null, lastFiveMinutes: 3, lastHour: 3 },
        {
          ...{ key: null, name: null, customer: null, address: '2001:db8::/64' },
          ...{ status: 401, code: null, lastFiveMinutes: 1, lastHour: 1 },
        },
      ],
      silentWorkers: 0,
      gateways: [],
    });
  },
);
