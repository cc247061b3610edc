import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { packageRoot } from '../../../src/shared/package-root.js';
import { startBrowser } from '../../servers/browser.js';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { NO_BAN } from '../../servers/plans.js';
import { startUpstream } from '../../servers/upstream.js';

/** The first whole number that JavaScript can't hold. */
const BIG = '9007199254740993';
const SHOTS = join(packageRoot, 'dist/screenshots');
const MIN_CONTRAST = 4.5;

/** What has to be read: badges, and each word of an answer. */
const READ = '.badge, .opblock-summary-method, .info .title small pre, .live-responses-table code span';
/** Of each that is seen: what it says, and the contrast of its computed colours (WCAG 2.2, 1.4.3). */
const CONTRASTS = `(() => {
  const read = (text) => text.match(/[\\d.]+/g).map(Number);
  const over = ([r, g, b, a = 1], under) => [r, g, b].map((each, i) => each * a + under[i] * (1 - a));
  const linear = (each) => (each /= 255) <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const lineOf = (element) => element === null ? [] : [...lineOf(element.parentElement), element];
  return [...document.querySelectorAll('${READ}')]
    .filter((word) => word.offsetParent !== null)
    .map((word) => {
      let ground = [255, 255, 255];
      let opacity = 1;
      for (const element of lineOf(word)) {
        const style = getComputedStyle(element);
        ground = over(read(style.backgroundColor), ground);
        opacity *= Number(style.opacity);
      }
      const { color } = getComputedStyle(word);
      const [a, b] = [light(over([...read(color).slice(0, 3), opacity], ground)), light(ground)];
      return { text: word.innerText.trim(), contrast: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) };
    });
})()`;

async function openDocs(page: Page, { url }: Gateway, key: string): Promise<void> {
  await page.goto(`${url}/docs`);
  await page.waitForSelector('#operations-pets-createPet');
  await page.click('.swagger-ui .btn.authorize');
  await page.locator('.swagger-ui .auth-container input').first().fill(key);
  await page.locator('.swagger-ui .auth-btn-wrapper .authorize').first().click();
  await page.click('.swagger-ui .btn-done');
}

/** Tries an operation out; gives what the page shows of the request and its answer. */
async function tryOut(page: Page, operation: string, field: string, value: string): Promise<string> {
  const block = page.locator(`#operations-pets-${operation}`);
  await block.locator('.opblock-summary-control').click();
  await block.locator('.try-out__btn').click();
  await block.locator(field).fill(value);
  await block.locator('.execute').click();
  await block.locator('.live-responses-table').waitFor();
  return block.locator('.responses-inner > div').first().innerText();
}

t.test('int64 is sent and shown digit by digit, beside the plans in force, in light and dark', async (t) => {
  const upstream = await startUpstream(t);
  upstream.handle = ({ method }, response) =>
    response
      .writeHead(method === 'POST' ? 201 : 200, { 'content-type': 'application/json' })
      .end(`{"id":${BIG},"name":"Rex","categoryId":${BIG}}`);
  const gateway = await startGateway(t, {
    environment: { PETS_URL: upstream.url },
    plans: {
      free: { limits: { minute: 61, day: 1234 }, ban: NO_BAN },
      anonymous: { limits: { minute: 301, day: 10_001 }, ban: NO_BAN },
    },
  });
  const { key } = await gateway.createKey({ plan: 'free' });
  const page = await (await startBrowser(t)).newPage({ colorScheme: 'light', viewport: { width: 900, height: 720 } });
  const troubles: string[] = [];
  page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()));
  page.on('pageerror', (error) => troubles.push(error.message));
  await openDocs(page, gateway, key);
  const shown = await page.innerText('body');
  for (const figure of ['61', '1,234', '301', '10,001']) t.match(shown, figure, `the plans say ${figure}`);
  for (const figure of ['60', '1,000', '10,000', '100,000'])
    t.notMatch(shown, new RegExp(`\\b${figure}\\b`), `no plan says ${figure}`);

  const fetched = await tryOut(page, 'getPet', 'tr[data-param-name=petId] input', BIG);
  t.equal(upstream.seen.at(-1)?.url, `/v1/pets/${BIG}`, 'the path that was sent');
  t.match(fetched, `/v1/pets/${BIG}`, 'the path that is shown');
  t.match(fetched, /x-ratelimit-remaining: 60/i, 'the key was sent');
  const body = `{"name":"Rex","categoryId":${BIG}}`;
  const created = await tryOut(page, 'createPet', 'textarea.body-param__text', body);
  t.equal(upstream.seen.at(-1)?.body.replace(/\s/g, ''), body, 'the body that was sent');
  t.match(created, new RegExp(`-d '\\{[^']*"categoryId": ?${BIG}`), 'the curl line');
  for (const answer of [fetched, created])
    t.match(answer, new RegExp(`"id": ${BIG},\\s+"name": "Rex",\\s+"categoryId": ${BIG}`), 'the answer');

  mkdirSync(SHOTS, { recursive: true });
  await page.evaluate(`document.querySelector('#operations-pets-createPet .execute').scrollIntoView()`);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.waitForSelector(colorScheme === 'dark' ? 'html.dark-mode' : 'html:not(.dark-mode)');
    const words = await page.evaluate<{ text: string; contrast: number }[]>(CONTRASTS);
    for (const wanted of ['deprecated', 'experimental', 'GET', 'POST', '1.0.0', 'OAS 3.1', BIG])
      t.ok(
        words.some(({ text }) => text.startsWith(wanted)),
        `${wanted} was measured`,
      );
    t.strictSame(
      words.filter(({ contrast }) => contrast < MIN_CONTRAST),
      [],
      `what can't be read in ${colorScheme}`,
    );
    await page.screenshot({ path: join(SHOTS, `docs-${colorScheme}.png`), animations: 'disabled' });
  }
  t.same(troubles, [], 'the console stays clean');
});

t.test('the key is sent where the settings say', async (t) => {
  const upstream = await startUpstream(t);
  upstream.handle = (_seen, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  const credentials = [{ query: 'api_key' }, { header: 'X-API-Key' }];
  const config = { credentials, upstreams: { pets: { addresses: [upstream.url] } } };
  const gateway = await startGateway(t, { config });
  const { key } = await gateway.createKey({ plan: 'free' });
  const page = await (await startBrowser(t)).newPage();
  await openDocs(page, gateway, key);
  t.ok((await page.innerText('#start')).includes('?api_key=$KEY"'), 'the curl line');
  t.match(await tryOut(page, 'getPet', 'tr[data-param-name=petId] input', '7'), /x-ratelimit-remaining: 59/i);
  t.equal(upstream.seen.at(-1)?.url, '/v1/pets/7');
});
