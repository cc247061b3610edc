import t from 'tap';
import { RecentExchanges } from '../../../../src/gateway/observe/recent/memory.js';
import { recallHere } from '../../../../src/gateway/observe/recent/recall.js';
import { ADMITTED } from '../../../gateway/admission/verdict.js';
import { makeExchange } from '../../exchange.js';
import { openConsole } from '../visitor.js';

t.test('why: from any page, by the id of the request, with the names of key and customer as text', async (t) => {
  const recent = new RecentExchanges();
  const { ask, visitor } = await openConsole(t, { recall: recallHere(recent) });
  const { id: customer } = (await ask('POST', '/admin/v1/customers', { plan: 'free', name: 'Shop <i>' })).json;
  const { json } = await ask('POST', '/admin/v1/keys', { customer, name: '<script>alert(1)</script>' });
  const { exchange } = makeExchange({ id: `a"b<i>` });
  exchange.logEntry.verdict = { ...ADMITTED, keyId: String(json['id']) };
  recent.note(exchange, 502, 1, false);
  const { get, signIn } = visitor();
  t.match((await signIn()).text, '<form method="get" action="/console/why"', 'a search on every page');
  const { status, text } = await get(`/console/why?id=${encodeURIComponent(`a"b<i>`)}`);
  t.equal(status, 200);
  t.match(text, `: 502`);
  t.match(text, '&lt;script>alert(1)&lt;/script>');
  t.match(text, `/console/keys/${String(json['id'])}`);
  t.match(text, `<a href="/console/customers/${String(customer)}">Shop &lt;i></a>`);
  t.notMatch(text, /<i>|<script>/);
  t.match(await get('/console/why?id=never'), { status: 200, text: 'does not remember' });
});

t.test('a role that may not read requests has neither page nor search', async (t) => {
  const { get } = await (await openConsole(t)).signedIn('billing');
  t.notMatch((await get('/console/')).text, '/console/why');
  t.match(await get('/console/why?id=x'), { status: 403, text: 'the role read, keys, or operator' });
});
