import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { packageRoot } from '../../../src/shared/package-root.js';
import { LOOKS, stumblingBlocks } from '../../servers/accessibility.js';
import { startBrowser } from '../../servers/browser.js';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { NO_BAN } from '../../servers/plans.js';
import { startUpstream } from '../../servers/upstream.js';

/** The first whole number that JavaScript can't hold. */
const BIG = '9007199254740993';
const SHOTS = join(packageRoot, 'dist/screenshots');

/** Collects what the browser complains of, such as what the policy of the page keeps out. */
function complaintsOf(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  return complaints;
}

async function openOperation(page: Page, id: string): Promise<void> {
  await page.click(`#operations a[href$="operation=${id}"]`);
  await page.waitForSelector(`dd:has-text("${id}")`);
}

/** Sends the request of the page; gives what it shows of the response. */
async function send(page: Page, fields: Readonly<Record<string, string>>): Promise<string> {
  for (const [selector, value] of Object.entries(fields)) await page.fill(selector, value);
  await page.click('#try-it button.main');
  await page.waitForSelector('#try-it [role=status]:not(:text("Sending"))');
  return page.innerText('#try-it');
}

async function openDocs(t: Test, { url }: Gateway): Promise<{ page: Page; complaints: readonly string[] }> {
  const page = await (await startBrowser(t)).newPage({ colorScheme: 'light', viewport: { width: 1280, height: 800 } });
  const complaints = complaintsOf(page);
  await page.goto(`${url}/docs`);
  return { page, complaints };
}

t.test('int64 is sent and shown digit by digit, next to the plans in force', async (t) => {
  const upstream = await startUpstream(t);
  const text = `{"id":${BIG},"name":"Rex","categoryId":${BIG}}`;
  upstream.handle = ({ method }, response) =>
    response.writeHead(method === 'POST' ? 201 : 200, { 'content-type': 'application/json' }).end(text);
  const gateway = await startGateway(t, {
    environment: { PETS_URL: upstream.url },
    plans: {
      free: { limits: { minute: 61, day: 1234 }, ban: NO_BAN },
      anonymous: { limits: { minute: 301, day: 10_001 }, ban: NO_BAN },
    },
  });
  const { key } = await gateway.createKey({ plan: 'free' });
  const { page, complaints } = await openDocs(t, gateway);
  const shown = await page.innerText('body');
  for (const figure of ['61', '1,234', '301', '10,001']) t.match(shown, figure, `the plans say ${figure}`);
  for (const figure of ['60', '1,000', '10,000', '100,000'])
    t.notMatch(shown, new RegExp(`\\b${figure}\\b`), `no plan says ${figure}`);

  await openOperation(page, 'getPet');
  const fetched = await send(page, { '[data-key]': key, '[data-name=petId]': BIG });
  t.equal(upstream.seen.at(-1)?.url, `/v1/pets/${BIG}`, 'the path that was sent');
  t.match(fetched, /200 OK in \d+ ms/);
  t.match(fetched, /x-ratelimit-remaining: 60/i, 'the key was sent');
  await openOperation(page, 'createPet');
  const body = `{"name":"Rex","categoryId":${BIG}}`;
  const created = await send(page, { '[data-key]': key, '[data-body]': body });
  t.equal(upstream.seen.at(-1)?.body, body, 'the body that was sent');
  t.match(created, '201 Created');
  for (const response of [fetched, created]) t.match(response, text, 'the response');

  t.notOk(page.url().includes(key), 'the key is in no address');
  t.equal(await page.evaluate('localStorage.length + sessionStorage.length + document.cookie.length'), 0);
  mkdirSync(SHOTS, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(SHOTS, `docs-${colorScheme}.png`), animations: 'disabled', fullPage: true });
  }
  await page.goBack();
  await page.waitForSelector('h1:text("Get an animal")');
  t.match(await page.innerText('#samples'), `${gateway.url}/v1/pets/1`, 'samples have the public address');
  t.same(complaints, [], 'the console stays clean');
});

t.test('the key is sent where the settings say', async (t) => {
  const upstream = await startUpstream(t);
  upstream.handle = (_seen, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  const credentials = [{ query: 'api_key' }, { header: 'X-API-Key' }];
  const config = { credentials, upstreams: { pets: { addresses: [upstream.url] } } };
  const gateway = await startGateway(t, { config });
  const { key } = await gateway.createKey({ plan: 'free' });
  const { page } = await openDocs(t, gateway);
  t.match(await page.innerText('#start'), `${gateway.url}/v1/pets?api_key=$API_KEY"`, 'the curl line');
  await openOperation(page, 'getPet');
  t.match(await send(page, { '[data-key]': key, '[data-name=petId]': '7' }), /x-ratelimit-remaining: 59/i);
  t.equal(upstream.seen.at(-1)?.url, '/v1/pets/7');
});

t.test('large, binary and broken responses are shown as such', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, { environment: { PETS_URL: upstream.url } });
  const { key } = await gateway.createKey({ plan: 'free' });
  const { page } = await openDocs(t, gateway);
  await openOperation(page, 'listPets');
  const respond = async (type: string, body: string | Buffer): Promise<string> => {
    upstream.handle = (_seen, response) => response.writeHead(200, { 'content-type': type }).end(body);
    return send(page, { '[data-key]': key });
  };
  const large = await respond('text/plain', 'x'.repeat(1024 * 1024 + 1));
  t.match(large, 'only its first MiB is shown');
  t.equal(await page.evaluate(`document.querySelector('[data-content]').textContent.length`), 1024 * 1024);
  t.match(await respond('image/png', Buffer.from([0x89, 0, 1])), '; image/png is not shown');
  t.match(await respond('text/html', '<script>alert(1)</script>'), '<script>alert(1)</script>');
  await gateway.program.stop('SIGKILL');
  t.match(await send(page, {}), 'No complete response: the gateway cannot be reached');
});

t.test('search finds operations by id, path and summary', async (t) => {
  const { page } = await openDocs(t, await startGateway(t));
  const found = async (text: string): Promise<readonly string[]> => {
    await page.fill('#operations input', text);
    const links = await page.locator('#operations li a:visible').all();
    return Promise.all(links.map(async (link) => (await link.getAttribute('href'))!.replace(/.*=/, '')));
  };
  t.strictSame(await found('CREATEpet'), ['createPet']);
  t.strictSame(await found('/v1/store'), ['listOrders']);
  t.strictSame(await found('ADD an animal'), ['createPet']);
  t.strictSame(await found('get animal'), ['listPets', 'getPet'], 'every word');
  t.match(await page.innerText('#operations [role=status]'), '2 found');
  t.strictSame(await found('nothing like it'), []);
  t.equal((await found('')).length, 5);
});

t.test('everyone can read it: in light, dark and on a phone, and without JavaScript', async (t) => {
  const gateway = await startGateway(t);
  const browser = await startBrowser(t);
  for (const { name, ...look } of LOOKS) {
    const page = await (await browser.newContext(look)).newPage();
    const complaints = complaintsOf(page);
    for (const query of ['', '?operation=createPet', '?operation=getPet']) {
      await page.goto(`${gateway.url}/docs${query}`);
      await page.evaluate(`for (const each of document.querySelectorAll('details')) each.open = true`);
      t.strictSame(await stumblingBlocks(page, name), [], `${name}: ${query}`);
    }
    t.strictSame(complaints, [], `${name}: the policy of the page keeps nothing of its own out`);
    await page.context().close();
  }
  const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  await page.goto(`${gateway.url}/docs`);
  await page.click('#operations a[href$="operation=createPet"]');
  t.match(await page.innerText('main'), /name\s+required string/);
  t.notOk(await page.isVisible('#try-it, [data-copy], #operations input'), 'what needs a script is not there');
});
