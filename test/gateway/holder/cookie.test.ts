import t from 'tap';
import { connect } from 'node:http2';
import { once } from 'node:events';
import { issueCertificate } from '../../servers/certificate.js';
import { startGateway } from '../../servers/gateway.js';
import { temporaryFolder } from '../../servers/program.js';
import { startUpstream } from '../../servers/upstream.js';
import { ACCOUNT, Visitor } from './browser-like.js';

t.test('the cookie opens no operation, and reaches no upstream', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, { environment: { PETS_URL: upstream.url } });
  const { key } = await gateway.createKey({ plan: 'free' });
  const visitor = new Visitor(gateway);
  await visitor.signIn(key);
  const pets = (headers: Readonly<Record<string, string>>) => fetch(`${gateway.url}/v1/pets`, { headers });
  t.equal((await pets({ cookie: visitor.cookie })).status, 401);
  const authorization = `Bearer ${key}`;
  t.equal((await pets({ authorization, cookie: `theme=dark; ${visitor.cookie}; lang=en` })).status, 200);
  t.equal((await pets({ authorization, cookie: visitor.cookie })).status, 200);
  t.same(
    upstream.seen.map(({ headers }) => headers.cookie),
    ['theme=dark; lang=en', undefined],
  );
});

t.test('a cookie that was touched, or is of somewhere else, is none', async (t) => {
  const gateway = await startGateway(t);
  const { key } = await gateway.createKey({ plan: 'free' });
  const visitor = new Visitor(gateway);
  await visitor.signIn(key);
  const sealed = visitor.cookie;
  const last = sealed.endsWith('A') ? 'B' : 'A';
  for (const cookie of [
    `${sealed.slice(0, -1)}${last}`,
    `petgate-account=v1.${'A'.repeat(2_000)}`,
    `petgate-account=${key}`,
    sealed.replace('petgate-account', 'petgate-console'),
  ]) {
    visitor.cookie = cookie;
    const { status, text } = await visitor.get();
    t.equal(status, 200);
    t.match(text, /name="key"/, 'asks for the key');
  }
  for (const cookie of [`${sealed}; ${sealed.slice(0, -1)}${last}`, `${sealed.slice(0, -1)}${last}; ${sealed}`]) {
    visitor.cookie = cookie;
    t.notMatch((await visitor.get()).text, /name="key"/, 'of two, the one that opens a session counts');
  }
});

t.test('over an open way no key is asked for, and behind a proxy with https the cookie is for TLS alone', async (t) => {
  const gateway = await startGateway(t, { config: { trusted_proxies: ['127.0.0.1/32'] } });
  const { key } = await gateway.createKey({ plan: 'free' });
  const by = (proto: string) => ({ 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': proto });
  const visitor = new Visitor(gateway);
  const open = await visitor.get(ACCOUNT, by('http'));
  t.equal(open.status, 403);
  t.match(open.text, 'insecure_connection');
  t.notMatch(open.text, /name="key"/);
  t.equal((await visitor.post(ACCOUNT, { key }, by('http'))).headers.get('set-cookie'), null);
  const origin = gateway.url.replace('http:', 'https:');
  const signedIn = await visitor.post(ACCOUNT, { key }, { ...by('https'), origin });
  t.match(signedIn.headers.get('set-cookie'), /^__Secure-petgate-account=.*; Secure/);
});

t.test('over HTTP/2 and TLS too, the cookie stays with the gateway', async (t) => {
  const upstream = await startUpstream(t);
  const tls = issueCertificate(temporaryFolder(t), 'own');
  const gateway = await startGateway(t, { tls, environment: { PETS_URL: upstream.url } });
  const { key } = await gateway.createKey({ plan: 'free' });
  const session = connect(gateway.url, { ca: tls.ca });
  t.teardown(() => session.destroy());
  const cookie = '__Secure-petgate-account=v1.AAAA; theme=dark';
  const stream = session.request({ ':path': '/v1/pets', authorization: `Bearer ${key}`, cookie });
  const [head] = (await once(stream, 'response')) as [{ readonly ':status': number }];
  t.equal(head[':status'], 200);
  stream.resume();
  await once(stream, 'close');
  t.equal(upstream.seen[0]?.headers.cookie, 'theme=dark');
});
