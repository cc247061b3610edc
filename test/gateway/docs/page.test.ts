import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { stringify } from 'yaml';
import { startBrowser } from '../../servers/browser.js';
import { startGateway } from '../../servers/gateway.js';
import { NO_BAN } from '../../servers/plans.js';
import { exchangeRaw, type RawAnswer } from '../../servers/raw.js';
import { until } from '../../servers/until.js';

const plansOf = (minute: number): Record<string, object> => ({
  free: { limits: { minute, day: 1000 }, ban: NO_BAN },
  anonymous: { limits: { minute: 300, day: 10_000 }, ban: NO_BAN },
});

t.test('the reference works offline in a browser, on a phone too', async (t) => {
  const gateway = await startGateway(t);
  const browser = await startBrowser(t);
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  const troubles: string[] = [];
  const hosts = new Set<string>();
  page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()));
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  const answer = await page.goto(`${gateway.url}/docs`);
  t.equal(answer?.status(), 200);
  t.match(answer?.headers()['content-security-policy'], /default-src 'none'/, 'nothing but our own files may load');
  let text = await page.innerText('main');
  for (const id of ['getPet', 'listOrders']) {
    await page.goto(`${gateway.url}/docs?operation=${id}`);
    text += await page.innerText('main');
  }
  for (const wanted of [
    'Free',
    '1,000',
    '10,000',
    'experimental',
    'deprecated',
    '2030-12-05',
    'rate_limited',
    'invalid_body',
    'Retry-After',
  ]) {
    t.match(text, wanted, `it tells of ${wanted}`);
  }
  t.ok(
    await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
    'nothing sticks out sideways on a phone',
  );

  t.same([...hosts], [new URL(gateway.url).host], 'no other host was asked');
  t.same(troubles, [], 'the console stays clean');
});

t.test('the page says the plans in force, at once after a reload', async (t) => {
  const gateway = await startGateway(t, { plans: plansOf(61) });
  const ask = (etag: string): Promise<Response> =>
    fetch(`${gateway.url}/docs`, { headers: etag === '' ? {} : { 'if-none-match': etag } });
  const first = await ask('');
  t.match(await first.text(), '<td class="number">61</td>');
  t.equal(first.headers.get('cache-control'), 'no-cache', 'browsers ask each time');
  const etag = first.headers.get('etag')!;
  t.equal((await ask(etag)).status, 304);
  writeFileSync(
    join(gateway.dataFolder, 'config/plans.yaml'),
    stringify(plansOf(62), { aliasDuplicateObjects: false }),
  );
  gateway.program.child.kill('SIGHUP');
  await until('it is reloaded', async () => (await ask(etag)).status === 200);
  const page = await (await ask('')).text();
  t.match(page, '<td class="number">62</td>');
  t.notMatch(page, '<td class="number">61</td>');
});

t.test('the page is cheap to fetch again and safe to embed nowhere', async (t) => {
  const gateway = await startGateway(t);
  const first = await fetch(`${gateway.url}/docs/page.js`);
  t.equal(first.status, 200);
  t.equal(first.headers.get('content-encoding'), 'gzip');
  t.match(await first.text(), 'parseFromString', 'the script arrives');
  const again = await fetch(`${gateway.url}/docs/page.js`, {
    headers: { 'if-none-match': first.headers.get('etag') ?? '' },
  });
  t.equal(again.status, 304, 'unchanged');
  t.ok(again.headers.get('x-ratelimit-limit'), 'also a 304 carries the figures');
  t.equal(first.headers.get('x-content-type-options'), 'nosniff');
  t.equal((await fetch(`${gateway.url}/docs/..%2f..%2fpackage.json`)).status, 404, 'only the files of the page');
  for (const unknown of ['none', 'getDocs', '', '__proto__'])
    t.equal((await fetch(`${gateway.url}/docs?operation=${unknown}`)).status, 404, unknown);
  const headers = { accept: 'text/html,*/*;q=0.8' };
  const nowhere = await fetch(`${gateway.url}/docs?operation=none`, { headers });
  t.equal(nowhere.status, 404, 'a browser gets a page');
  t.match(await nowhere.text(), /There is no such operation[^]*operation=listPets/);
  t.equal((await fetch(`${gateway.url}/docs`, { method: 'HEAD' })).status, 200, 'HEAD works as GET');
  const figures = first.headers.get('x-ratelimit-remaining');
  t.equal((await fetch(`${gateway.url}/docs`)).headers.get('x-ratelimit-remaining'), figures, 'the page costs nothing');
});

t.test('the coding is the one its client takes', async (t) => {
  const gateway = await startGateway(t);
  const codingOf = async (field: string | null): Promise<string | undefined> => {
    const [answer] = await exchangeRaw(
      gateway.port,
      `GET /docs/page.css HTTP/1.1\r\nHost: x\r\n${field === null ? '' : `Accept-Encoding: ${field}\r\n`}\r\n`,
      1,
    );
    t.equal(answer?.status, 200, String(field));
    t.match(answer?.headers.get('vary'), 'Accept-Encoding');
    return answer?.headers.get('content-encoding');
  };
  for (const field of [
    'gzip',
    'GZIP',
    'br, gzip',
    'x-gzip',
    'gzip;q=0.5',
    'gzip ; q=1.000',
    '*',
    'br;q=1, *;q=0.1',
    'deflate,\tgzip',
    'identity;q=0, gzip;q=0.1',
    'gzip;q=0.5, identity;q=0.5',
  ])
    t.equal(await codingOf(field), 'gzip', field);
  for (const field of [
    null,
    '',
    'br',
    'gzip;q=0',
    'gzip;q=0.000',
    'gzip; Q=0',
    '*;q=0, identity',
    '*, gzip;q=0',
    'identity',
    'not-gzip',
    'gzip2',
    'gzip;q=0.1, identity;q=0.2',
    'gzip;q=x',
  ])
    t.equal(await codingOf(field), undefined, String(field));
});

t.test('each coding has an ETag of its own, and If-None-Match is read as RFC 9110 has it', async (t) => {
  const gateway = await startGateway(t);
  const ask = async (...fields: readonly string[]): Promise<RawAnswer> =>
    (
      await exchangeRaw(gateway.port, ['GET /docs/page.css HTTP/1.1', 'Host: x', ...fields, '', ''].join('\r\n'), 1)
    )[0]!;
  const plain = (await ask()).headers.get('etag')!;
  const zipped = (await ask('Accept-Encoding: gzip')).headers.get('etag')!;
  t.match(plain, /^"[^"]+"$/);
  t.match(zipped, /^"[^"]+"$/);
  t.not(plain, zipped, 'two strong ETags for two representations');
  for (const said of [
    plain,
    `W/${plain}`,
    '*',
    `"other", ${plain}`,
    `"other",W/"a,b",,${plain} , "last"`,
    `"a, b", ${plain}`,
  ]) {
    const answer = await ask(`If-None-Match: ${said}`);
    t.equal(answer.status, 304, said);
    t.equal(answer.headers.get('etag'), plain);
  }
  t.equal((await ask('If-None-Match: "a"', `If-None-Match: ${plain}`)).status, 304, 'in two fields');
  t.equal((await ask(`If-None-Match: ${zipped}`, 'Accept-Encoding: gzip')).status, 304);
  for (const said of [
    '',
    '"other"',
    plain.slice(1, -1),
    zipped,
    `"a${plain.slice(1)}`,
    `"x, ${plain.slice(1, -1)}"`,
    '"*"',
  ])
    t.equal((await ask(`If-None-Match: ${said}`)).status, 200, said);
});
