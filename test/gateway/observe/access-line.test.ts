import t from 'tap';
import { AccessLine } from '../../../src/gateway/observe/access-line.js';
import { until } from '../../servers/until.js';
import { makeExchange } from '../exchange.js';

t.test('a line that is written later says how the exchange stood when it ended', async (t) => {
  const made = makeExchange({}).exchange;
  const client = { ...made.client, bytesOut: 10 };
  const before = Date.now();
  const line = new AccessLine({ ...made, client }, 200, 1.5, '');
  const after = Date.now();
  await until('the clock has moved', () => Date.now() > after);
  client.bytesOut = 1000;
  const { time, bytes, status, ms, msg } = JSON.parse(String(line)) as Readonly<Record<string, unknown>>;
  t.ok(Date.parse(String(time)) >= before && Date.parse(String(time)) <= after, 'its time is that of the end');
  t.equal(bytes, 10);
  t.strictSame({ status, ms, msg }, { status: 200, ms: 1.5, msg: 'exchange' });
});

t.test('it is one line without a credential, whatever it is asked', (t) => {
  const { exchange } = makeExchange({ authorization: 'Bearer a-secret' });
  const text = String(new AccessLine(exchange, 499, 0, ',"sampled":0.5'));
  t.match(text, /^\{[^\n]*\}\n$/);
  t.notMatch(text, /a-secret/);
  t.equal((JSON.parse(text) as { sampled: number }).sampled, 0.5);
  t.end();
});
