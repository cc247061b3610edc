import t from 'tap';
import { ADMIN_TOKEN } from '../../admin/listener.js';
import { hiddenIn, openConsole } from '../visitor.js';

const OVERVIEW = '/console/';

t.test('signed in with the token, and out again; what is shown in between says who it is', async (t) => {
  const { visitor } = await openConsole(t);
  const { get, signIn, submit, cookie } = visitor();
  const first = await get(OVERVIEW);
  t.match(first, { status: 401, text: 'Admin token' });
  const page = await signIn();
  t.match(page, { status: 200, text: 'Environment (operator)' });
  t.notMatch(decodeURIComponent(cookie()), ADMIN_TOKEN);
  t.match(await submit(OVERVIEW, '/console/sign-out'), { status: 200, text: 'Admin token' });
  t.equal((await get(OVERVIEW)).status, 401);
});

t.test('a session that was ended is over for whoever copied its cookie', async (t) => {
  const { visitor, signedIn } = await openConsole(t);
  const { get, submit, cookie } = await signedIn();
  const copied = cookie();
  t.equal((await visitor().get(OVERVIEW, { cookie: copied })).status, 200);
  await submit(OVERVIEW, '/console/sign-out');
  t.equal((await get(OVERVIEW, { cookie: copied })).status, 401);
});

t.test('the cookie is for this console alone, and over TLS for TLS alone', async (t) => {
  const { visitor } = await openConsole(t);
  const { post } = visitor();
  const plain = await post('/console/sign-in', { token: ADMIN_TOKEN });
  t.match(plain.headers['set-cookie']?.[0], /^petgate-console=v1\.[\w-]+; Path=\/console; HttpOnly; SameSite=Strict$/);
  const proxied = await post(
    '/console/sign-in',
    { token: ADMIN_TOKEN },
    {
      'x-forwarded-proto': 'https',
      'sec-fetch-site': 'same-origin',
    },
  );
  t.match(proxied.headers['set-cookie']?.[0], /^__Secure-petgate-console=.*; Secure$/);
});

t.test('a stored token opens its pages until it is revoked, at once', async (t) => {
  const { ask, visitor } = await openConsole(t);
  const { json } = await ask('POST', '/admin/v1/tokens', { name: 'Eve', role: 'read' });
  const { get, signIn } = visitor();
  t.match(await signIn(String(json['token'])), { status: 200, text: 'Eve (read)' });
  await ask('DELETE', `/admin/v1/tokens/${String(json['id'])}`);
  t.equal((await get(OVERVIEW)).status, 401);
});

t.test('a session ends after 30 minutes without a page, and 12 hours after it began', async (t) => {
  const { clock, signedIn } = await openConsole(t);
  const { get, signIn } = await signedIn();
  for (let minutes = 0; minutes < 12 * 60 - 20; minutes += 20) {
    clock.nowMs += 20 * 60_000;
    t.equal((await get(OVERVIEW)).status, 200, `${minutes} min`);
  }
  clock.nowMs += 20 * 60_000;
  t.equal((await get(OVERVIEW)).status, 401);
  await signIn();
  clock.nowMs += 30 * 60_000;
  t.equal((await get(OVERVIEW)).status, 401);
});

t.test('wrong tokens are held to a limit, and a right one is not', async (t) => {
  const { visitor } = await openConsole(t, { elapsedMs: () => 0 });
  const { signIn } = visitor();
  for (let tries = 0; tries < 10; tries += 1) {
    const refused = await signIn('wrong');
    t.match(refused, { status: 401, text: 'admin token is not valid' });
    t.notMatch(refused.text, 'value="wrong"');
  }
  t.match(await signIn('wrong'), { status: 429, text: 'Too many wrong tokens' });
  t.equal((await signIn()).status, 200);
});

t.test('whoever is not signed in is led back, to pages of the console alone', async (t) => {
  const { visitor } = await openConsole(t);
  const { get, post } = visitor();
  const asked = await get('/console/why?id=%3Cscript%3E&x=1');
  t.equal(asked.status, 401, 'nor is anybody told which pages there are');
  const { to = '' } = hiddenIn(asked.text, '/console/sign-in');
  t.equal(to, '/console/why?id=%3Cscript%3E&amp;x=1');
  const there = await post('/console/sign-in', { token: ADMIN_TOKEN, to: '/console/why?id=%3Cscript%3E&x=1' });
  t.equal(there.headers.location, '/console/why?id=%3Cscript%3E&x=1');
  for (const to of [
    '//evil.example',
    'https://evil.example',
    '/console//evil',
    '/console/\\evil',
    '/admin',
    '/console/\r\n',
  ])
    t.equal((await post('/console/sign-in', { token: ADMIN_TOKEN, to })).headers.location, '/console/', to);
});

t.test('a link of elsewhere, which comes without the cookie, is asked once more from here', async (t) => {
  const { visitor } = await openConsole(t);
  const { get } = visitor();
  t.match((await get(OVERVIEW, { 'sec-fetch-site': 'cross-site' })).text, '<meta http-equiv="refresh" content="0"/>');
  t.notMatch((await get(OVERVIEW, { 'sec-fetch-site': 'same-origin' })).text, 'http-equiv');
});
