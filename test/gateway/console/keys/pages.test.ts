import t from 'tap';
import { hiddenIn, openConsole } from '../visitor.js';

const SCRIPT = '<script>alert("x")</script>';

t.test('a key is created, shown once, and found by its id and by its name', async (t) => {
  const { registry, signedIn } = await openConsole(t);
  const { get, submit } = await signedIn();
  const created = await submit('/console/keys/new', '/console/keys', { name: SCRIPT, plan: 'free', customer: '' });
  t.equal(created.status, 200);
  const [token = ''] = /ptg_\w+/.exec(created.text) ?? [];
  const { id } = (await registry.list({}, null, 10)).records[0]!;
  t.ok(token.includes(id), 'the secret is shown');
  const page = await get(`/console/keys/${id}`);
  t.equal(page.status, 200);
  t.notMatch(page.text, token, 'and never again');
  t.notMatch(page.text, SCRIPT);
  t.match(page.text, '&lt;script>');
  t.match((await get(`/console/keys?search=${id}`)).headers, { location: `/console/keys/${id}` });
  t.match((await get('/console/keys?search=%3Cscript')).text, `/console/keys/${id}`);
  t.notMatch((await get('/console/keys?search=other')).text, `/console/keys/${id}`);
});

t.test('a new key comes with what its developer needs, none of which can be markup', async (t) => {
  const handover = () => ({ curl: (key: string) => `curl '${key}' '<b>'`, docs: 'http://gw/docs', account: null });
  const { signedIn } = await openConsole(t, { handover });
  const { submit } = await signedIn();
  const { text } = await submit('/console/keys/new', '/console/keys', { name: 'Shop', plan: 'free', customer: '' });
  const [token = ''] = /ptg_\w+/.exec(text) ?? [];
  t.match(text, '<bdi>Shop</bdi>, on plan free');
  t.match(text, new RegExp(`<pre>curl '${token}' '&lt;b>'</pre>`));
  t.match(text, '<a href="http://gw/docs">');
  t.notMatch(text, 'a new secret');
});

t.test('a list shows the newest first, with customer, fullest window and last use', async (t) => {
  const { registry, engine, signedIn } = await openConsole(t);
  const { get } = await signedIn();
  const customer = await registry.customers.create({ name: 'Acme', plan: 'free' }, 'test');
  const { record: older } = await registry.create({ name: 'Used', customer: customer.id });
  const { record: newer } = await registry.create({ name: 'Unused', plan: 'pro' });
  const subject = { kind: 'key', id: older.id, secretHash: older.secrets[0]!.hash } as const;
  await engine.admit([{ subject, operation: 'listPets', scope: null, cost: 45 }]);
  const { text } = await get('/console/keys?search=uSED');
  t.ok(text.indexOf(newer.id) < text.indexOf(older.id));
  t.match(text, `href="/console/customers/${customer.id}">Acme</a>`);
  t.match(text, '75 % of the minute');
  t.match(text, `data-label="Last use">${new Date().toISOString().slice(0, 10)}</td>`);
  const one = (await get(`/console/keys/${older.id}`)).text;
  t.match(one, `<dt>Customer</dt><dd><a href="/console/customers/${customer.id}">Acme</a></dd>`);
  t.match(one, `<dt>Last use</dt><dd>${new Date().toISOString().slice(0, 10)}</dd>`);
  t.match((await get(`/console/keys/${newer.id}`)).text, '<dt>Last use</dt><dd>not in the past 31 days</dd>');
  const links = [...one.matchAll(/<a href="#([\w-]+)">/g)].map(([, id = '']) => id);
  t.strictSame(links, ['windows', 'last-refused-or-failed', 'usage', 'grants', 'corrections', 'history']);
  for (const id of links) t.match(one, `id="${id}"`, 'each link leads to its section');
  t.match((await get('/console/keys?search=acme')).text, older.id, 'found by the name of its customer');
  t.equal((await get('/console/keys?cursor=' + older.id)).status, 400, 'a cursor of the other order');
});

t.test('a list is shown also where a customer cannot be read', async (t) => {
  const { registry, engine, signedIn } = await openConsole(t);
  const { get } = await signedIn();
  const { id } = await registry.customers.create({ name: 'Acme', plan: 'free' }, 'test');
  const { record } = await registry.create({ name: 'Used', customer: id });
  const read = engine.customers.read.bind(engine.customers);
  let reads = 0;
  // The first is for the plan of the key.
  engine.customers.read = (one) => ((reads += 1) === 1 ? read(one) : Promise.reject(new Error('away')));
  const { status, text } = await get('/console/keys');
  t.equal(status, 200);
  t.match(text, record.id);
});

t.test('a form that is wrong is shown again with what is wrong, and what was entered', async (t) => {
  const { registry, signedIn } = await openConsole(t);
  const { submit } = await signedIn();
  const fields = { name: 'My app', plan: 'free', customer: '', expires: 'soon', 'limit-minute': 'many' };
  const refused = await submit('/console/keys/new', '/console/keys', fields);
  t.equal(refused.status, 400);
  t.match(refused.text, /value="My app"/);
  t.match(refused.text, 'must be a date such as');
  t.match(refused.text, /<p class="problem">limits/);
  t.same((await registry.list({}, null, 10)).records, []);
});

t.test('what is done to a key holds, stands in its history, and is said', async (t) => {
  const { registry, engine, signedIn } = await openConsole(t);
  const { get, submit } = await signedIn();
  const { record, token } = await registry.create({ name: 'My app', plan: 'free' });
  const path = `/console/keys/${record.id}`;
  const act = (name: string, fields = {}) => submit(path, `${path}/${name}`, fields);
  t.match(
    (await get(path)).text,
    /minute<\/th><td[^>]*><meter [^>]*value="0"[^>]*><\/meter> 0 %<\/td><td class="number"[^>]*>60</,
  );
  t.match((await act('disabled')).text, 'it is refused from the next request on');
  t.equal((await registry.get(record.id)).status, 'disabled');
  t.match((await act('enabled')).text, 'it may be used');
  t.match((await act('banned', { for: '5m', reason: 'too eager' })).text, 'too eager');
  t.match((await act('lifted')).text, 'The ban is lifted');
  t.equal(await engine.bans.read(record.id), undefined);
  t.match((await act('changed', { name: 'Our app', plan: 'pro', note: '' })).text, 'plan: free → pro');
  t.match((await act('granted', { window: 'day', units: '500', until: '2099-01-01', note: '' })).text, 'Granted.');
  const [grant] = (await registry.get(record.id)).grants ?? [];
  t.match((await act(`grants/${grant!.id}/withdrawn`)).text, 'The grant is withdrawn.');
  const rotated = await act('rotated', { overlap: '1h' });
  const [next = ''] = /ptg_\w+/.exec(rotated.text) ?? [];
  t.not(next, token);
  t.match((await act('revoked')).text, 'Revoked permanently.');
  t.notMatch(
    (await get(path)).text,
    /action="\/console\/keys\/\w+\/(?!corrected"|erased")/,
    'no change is offered any more',
  );
});

t.test('a second click does nothing twice, and a wrong entry changes nothing', async (t) => {
  const { registry, signedIn } = await openConsole(t);
  const { get, post, submit } = await signedIn();
  const fields = {
    ...hiddenIn((await get('/console/keys/new')).text, '/console/keys'),
    ...{ name: 'Once', plan: 'free', customer: '' },
  };
  const [first, second] = [await post('/console/keys', fields), await post('/console/keys', fields)];
  t.equal(first.text, second.text);
  const { records } = await registry.list({}, null, 10);
  t.equal(records.length, 1);
  const path = `/console/keys/${records[0]!.id}`;
  t.match(await submit(path, `${path}/granted`, { window: 'day', units: '-1', until: '2000-01-01' }), {
    status: 400,
    text: 'must lie in the future',
  });
  const banned = await submit(path, `${path}/banned`, { for: 'long', reason: 'eager' });
  t.match(banned, { status: 400, text: 'Nothing was changed' });
  t.match(banned.text, /<details open[^>]*><summary>Ban<.*value="long".*value="eager"/s, 'what was entered is there');
  t.match(banned.text, /<details><summary>Change<.*value="Once"/s, 'of this form alone');
  const changed = await submit(path, `${path}/changed`, { name: 'Twice', plan: 'gold', note: 'typed' });
  t.match(changed, { status: 400, text: /<details open[^>]*><summary>Change<.*value="Twice".*value="typed"/s });
  t.equal((await get('/console/keys/zzzzzzzzzzzz')).status, 404);
});

t.test('who may only read is offered nothing, and changes nothing', async (t) => {
  const { registry, signedIn } = await openConsole(t);
  const { record } = await registry.create({ name: 'My app', plan: 'free' });
  const { get, post } = await signedIn('read');
  const path = `/console/keys/${record.id}`;
  const { text } = await get(path);
  t.notMatch(text, `action="${path}`);
  t.equal((await get('/console/keys/new')).status, 403);
  const guard = hiddenIn(text, '/console/sign-out');
  t.match(await post(`${path}/revoked`, { ...guard, submission: 'x' }), { status: 403, text: 'keys or operator' });
  t.equal((await registry.get(record.id)).status, 'enabled');
});
