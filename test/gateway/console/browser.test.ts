import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import t from 'tap';
import { packageRoot } from '../../../src/shared/package-root.js';
// What the live page runs; in Node it does nothing.
import '../../../src/gateway/console/browser.js';
import { PAGES } from '../../../src/gateway/console/pages.js';
import { LOOKS, stumblingBlocks } from '../../servers/accessibility.js';
import { startBrowser } from '../../servers/browser.js';
import { ADMIN_TOKEN, startGateway } from '../../servers/gateway.js';

const SHOTS = join(packageRoot, 'dist/screenshots');
/** All of the menu, whoever adds to it. */
const MENU = PAGES.filter(({ menu }) => menu !== undefined);

t.test('every page of the menu in light, dark and on a phone: nothing sticks out, nobody stumbles', async (t) => {
  mkdirSync(SHOTS, { recursive: true });
  const { adminUrl } = await startGateway(t);
  const browser = await startBrowser(t);
  for (const { name, ...look } of LOOKS) {
    const page = await signedIn(browser, adminUrl, look);
    const errors: string[] = [];
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    for (const { path, menu = '' } of MENU) {
      await page.goto(adminUrl + path);
      const shot = `${menu.toLowerCase()}-${name}.png`;
      await page.screenshot({ path: join(SHOTS, shot) });
      t.strictSame(await stumblingBlocks(page), [], shot);
    }
    t.strictSame(errors, [], `${name}: the policy of the page keeps nothing of its own out`);
    await page.close();
  }
});

t.test('why a request was refused is two clicks away, without JavaScript too', async (t) => {
  const { adminUrl, url } = await startGateway(t);
  const refused = await fetch(`${url}/v1/pets`, { headers: { 'x-request-id': 'asked-by-the-test' } });
  t.equal(refused.status, 401);
  const page = await signedIn(await startBrowser(t), adminUrl, { javaScriptEnabled: false });
  await page.fill('input[name=id]', refused.headers.get('x-request-id')!);
  await page.click('text="Why?"');
  t.match(await page.innerText('main'), 'missing_api_key');
  await page.click('text="Sign out"');
  t.equal(await page.innerText('h1'), 'Sign in');
});

t.test('other plans are tried in three clicks', async (t) => {
  const { adminUrl } = await startGateway(t);
  const page = await signedIn(await startBrowser(t), adminUrl, {});
  for (const click of ['nav >> text="Plans"', 'text="Rehearse other plans"', 'text="Rehearse"'])
    await page.click(click);
  t.match(await page.innerText('main'), 'Nothing was used.');
  t.strictSame(await stumblingBlocks(page), []);
});

t.test('what is live is refreshed by itself, and says when it is not', async (t) => {
  const { adminUrl, program } = await startGateway(t);
  const page = await signedIn(await startBrowser(t), adminUrl, {});
  await page.evaluate("document.querySelector('[data-live]').innerHTML = 'old'");
  await t.resolves(page.waitForSelector('text=Requests per second', { timeout: 60_000 }));
  await program.stop('SIGKILL');
  await t.resolves(page.waitForSelector('text=the gateway does not answer', { timeout: 60_000 }));
});

async function signedIn(browser: Browser, adminUrl: string, options: object): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  await page.goto(adminUrl);
  await page.fill('input[name=token]', ADMIN_TOKEN);
  await page.click('button.main');
  await page.waitForSelector('text="Sign out"');
  return page;
}
