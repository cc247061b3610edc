import t from 'tap';
import { hiddenIn, openConsole } from './visitor.js';

const OVERVIEW = '/console/';

t.test('a page of elsewhere can send no form, in whoever’s session', async (t) => {
  const { get, post } = await (await openConsole(t)).signedIn();
  const { form = '' } = hiddenIn((await get(OVERVIEW)).text, '/console/sign-out');
  const fields = { form };
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: '' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ])
    t.match(
      await post('/console/sign-out', fields, headers),
      { status: 403, text: 'forged_form' },
      JSON.stringify(headers),
    );
  for (const wrong of ['', `${form}x`]) t.equal((await post('/console/sign-out', { form: wrong })).status, 403, wrong);
  t.equal((await get(OVERVIEW)).status, 200, 'still signed in');
  t.equal((await post('/console/sign-out', fields)).status, 303);
});

t.test('a form that is none, too long or twice the same field is refused with a page', async (t) => {
  const { visitor } = await openConsole(t);
  const { get, post } = visitor();
  t.equal((await post('/console/sign-in', {}, { 'content-type': 'application/json' })).status, 400);
  t.match(await post('/console/sign-in', { token: 'x'.repeat(70_000) }), { status: 413, text: 'body_too_large' });
  t.match(await get('/console/sign-in?to=a&to=b'), { status: 400, text: 'invalid_form' });
  t.match(await get('/console/sign-in?to=%ff'), { status: 400, text: 'invalid_form' });
});

t.test('every answer is a page that nothing of elsewhere gets into', async (t) => {
  const { visitor, signedIn } = await openConsole(t, { metrics: () => Promise.reject(new Error('inner workings')) });
  const { get, post } = await signedIn();
  for (const [reply, status] of [
    [await get(OVERVIEW), 500],
    [await get('/console/why'), 200],
    [await get('/console/nothing'), 404],
    [await get('/console/%zz'), 404],
    [await get('/console/sign-out'), 405],
    [await post('/console/sign-out', {}), 403],
    [await get(OVERVIEW, { host: 'evil.example' }), 421],
    [await visitor().get(OVERVIEW), 401],
  ] as const) {
    t.equal(reply.status, status);
    t.match(reply.headers, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': /^default-src 'none'; style-src 'self'; script-src 'self';.* frame-ancestors 'none'/,
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    t.match(reply.text, /^<!doctype html>\n<html lang="en">/);
    t.notMatch(reply.text, /<script(?! type="module" src="\/console\/files\/)|<style| on\w+=| style=/);
  }
});

t.test('what pages load is named by its content, and may be kept for ever', async (t) => {
  const { visitor } = await openConsole(t);
  const { get, signIn } = visitor();
  const { text } = await signIn();
  const files = [...text.matchAll(/(?:src|href)="(\/console\/files\/[^"]+)"/g)].map(([, path = '']) => path);
  t.equal(files.length, 2);
  for (const path of files) {
    const { status, headers } = await get(path);
    t.match({ status, headers }, { status: 200, headers: { 'cache-control': /immutable/ } }, path);
  }
  t.equal((await get('/console/files/style.css')).status, 404);
});
