import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import t from 'tap';
import { packageRoot } from '../../../src/shared/package-root.js';
import { startBrowser } from '../../servers/browser.js';
import { ADMIN_TOKEN, startGateway } from '../../servers/gateway.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SHOTS = join(packageRoot, 'dist/screenshots');
const LOOKS = [
  { name: 'light', viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { name: 'dark', viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  { name: 'phone', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
] as const;

t.test('an operator signs in and sees how the gateway is: light, dark, on a phone, without JavaScript', async (t) => {
  mkdirSync(SHOTS, { recursive: true });
  const { adminUrl } = await startGateway(t);
  const browser = await startBrowser(t);
  for (const { name, ...look } of LOOKS) {
    const page = await signedIn(browser, adminUrl, look);
    await t.resolves(page.waitForSelector('text=ready'), name);
    await page.screenshot({ path: join(SHOTS, `overview-${name}.png`) });
    t.strictSame(await troubles(page), [], `${name}: nothing that a screen reader stumbles over`);
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${name}: nothing sticks out`);
    await page.close();
  }
  const plain = await signedIn(browser, adminUrl, { javaScriptEnabled: false });
  t.match(await plain.innerText('main'), 'ready');
  await plain.click('text=Log out');
  t.equal(await plain.innerText('h1'), 'Sign in');
});

async function signedIn(browser: Browser, adminUrl: string, options: object): Promise<Page> {
  const page = await (await browser.newContext({ ...options, bypassCSP: false })).newPage();
  await page.goto(adminUrl);
  await page.fill('input[name=token]', ADMIN_TOKEN);
  await page.click('text="Sign in" >> nth=-1');
  await page.waitForSelector('text=Log out');
  return page;
}

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** What axe finds, by rule; its script is put in past the page's policy. */
async function troubles(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate<AxeResult>('axe.run()');
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
