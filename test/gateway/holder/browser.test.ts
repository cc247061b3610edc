import t from 'tap';
import { LOOKS, stumblingBlocks } from '../../servers/accessibility.js';
import { startBrowser } from '../../servers/browser.js';
import { takePicture } from '../../servers/pictures.js';
import { startFurnished } from '../console/furnished.js';
import { ACCOUNT } from './browser-like.js';

const NAME = '<script>alert(1)</script>';

t.test('from sign-in to a new key without JavaScript, in light, dark and on a phone: nobody stumbles', async (t) => {
  const { gateway, token } = await startFurnished(t);
  const browser = await startBrowser(t);
  for (const { name, ...look } of LOOKS) {
    const page = await (await browser.newContext(look)).newPage();
    const errors: string[] = [];
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(gateway.url + ACCOUNT);
    t.strictSame(await stumblingBlocks(page, name), [], `${name}: sign in`);
    await page.fill('input[name=key]', token);
    await page.click('button.main');
    await page.waitForSelector('text=Sign out');
    if (name !== 'dark')
      await takePicture(page, `account-${name}`, name === 'light' ? { width: 960, height: 1120 } : {});
    t.strictSame(await stumblingBlocks(page, name), [], `${name}: the page`);
    t.strictSame(errors, [], `${name}: the policy of the page keeps nothing of its own out`);
    await page.context().close();
  }
  const { key } = await gateway.createKey({ plan: 'free', name: NAME });
  const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  await page.goto(gateway.url + ACCOUNT);
  await page.fill('input[name=key]', key);
  await page.click('button.main');
  t.equal(await page.innerText('h1'), NAME, 'a name is text');
  await page.click('form[action$="/rotate"] button');
  t.match(await page.innerText('main'), /ptg_\w+/, 'the new key, shown once');
});
