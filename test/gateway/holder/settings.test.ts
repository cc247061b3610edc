import t from 'tap';
import { startGateway } from '../../servers/gateway.js';
import { startUpstream } from '../../servers/upstream.js';
import { ACCOUNT, Visitor } from './browser-like.js';

const FOREIGN = '/_petgate/account';

t.test('under a foreign contract there is no page unless account: true, and then it is beside usage', async (t) => {
  const upstream = await startUpstream(t);
  const environment = { UPSTREAM_URL: upstream.url };
  const off = await startGateway(t, { config: { contract: 'none' }, environment });
  const { key: offKey } = await off.createKey({ plan: 'free' });
  const stranger = new Visitor(off, FOREIGN);
  t.notMatch((await stranger.get()).text, /name="key"/);
  await stranger.signIn(offKey);
  t.equal(stranger.cookie, '', 'nobody signs in');

  const on = await startGateway(t, { config: { contract: 'none', account: true }, environment });
  const { id, key } = await on.createKey({ plan: 'free' });
  const visitor = new Visitor(on, FOREIGN);
  t.match((await visitor.get()).text, /name="key"/);
  const signedIn = await visitor.signIn(key);
  t.equal(signedIn.headers.get('location'), FOREIGN);
  t.match(signedIn.headers.get('set-cookie'), '; Path=/_petgate/account;');
  const page = await visitor.get();
  t.match(page.text, id);
  const [, style = ''] = /href="([^"]+\.css)"/.exec(page.text) ?? [];
  t.match(style, `${FOREIGN}/style.`);
  t.equal((await visitor.get(style)).status, 200);
  const form = await visitor.formToken();
  t.match((await visitor.post(`${FOREIGN}/rotate`, { form, overlap: '0s' })).text, /ptg_\w+/);
  t.equal(upstream.seen.length, 0, 'nothing of it reaches the upstream');
});

t.test('account: false takes the page away from the contract shipped, too', async (t) => {
  const gateway = await startGateway(t, { config: { account: false } });
  const visitor = new Visitor(gateway, ACCOUNT);
  const { status, text } = await visitor.get();
  t.notMatch(text, /name="key"/);
  t.equal(status, 401, 'as any path that is not there');
});

t.test('with keys.holders_rotate: false no holder rotates a key, by page or by form', async (t) => {
  const gateway = await startGateway(t, { config: { keys: { holders_rotate: false } } });
  const { id, key } = await gateway.createKey({ plan: 'free' });
  const visitor = new Visitor(gateway);
  await visitor.signIn(key);
  const { text } = await visitor.get();
  t.match(text, id);
  t.notMatch(text, '/rotate');
  const form = await visitor.formToken();
  t.equal((await visitor.post(`${ACCOUNT}/rotate`, { form, overlap: '0s' })).status, 404);
  const { body } = await gateway.admin('GET', `/admin/v1/keys/${id}/history`);
  t.notMatch(JSON.stringify(body), 'rotated');
  t.equal((await visitor.post(`${ACCOUNT}/sign-out`, { form })).status, 303);
});
