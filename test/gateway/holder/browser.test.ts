import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../../src/shared/package-root.js';
import { LOOKS, stumblingBlocks } from '../../servers/accessibility.js';
import { startBrowser } from '../../servers/browser.js';
import { startGateway } from '../../servers/gateway.js';
import { startUpstream } from '../../servers/upstream.js';
import { ACCOUNT } from './browser-like.js';

const SHOTS = join(packageRoot, 'dist/screenshots');

t.test('from sign-in to a new key without JavaScript, in light, dark and on a phone: nobody stumbles', async (t) => {
  mkdirSync(SHOTS, { recursive: true });
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, { environment: { PETS_URL: upstream.url } });
  const { key } = await gateway.createKey({ plan: 'free', name: '<script>alert(1)</script>' });
  for (const path of ['/v1/pets', '/v1/pets', '/v1/nothing'])
    await fetch(gateway.url + path, { headers: { authorization: `Bearer ${key}` } });
  const browser = await startBrowser(t);
  for (const { name, ...look } of LOOKS) {
    const page = await (await browser.newContext(look)).newPage();
    const errors: string[] = [];
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(gateway.url + ACCOUNT);
    t.strictSame(await stumblingBlocks(page), [], `${name}: sign in`);
    await page.fill('input[name=key]', key);
    await page.click('button.main');
    await page.waitForSelector('text=Sign out');
    await page.screenshot({ path: join(SHOTS, `account-${name}.png`), fullPage: true });
    t.strictSame(await stumblingBlocks(page), [], `${name}: the page`);
    t.match(await page.innerText('main'), '<script>alert(1)</script>', 'a name is text');
    t.strictSame(errors, [], `${name}: the policy of the page keeps nothing of its own out`);
    await page.close();
  }
  const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  await page.goto(gateway.url + ACCOUNT);
  await page.fill('input[name=key]', key);
  await page.click('button.main');
  await page.click('form[action$="/rotate"] button');
  t.match(await page.innerText('main'), /ptg_\w+/, 'the new key, shown once');
});
