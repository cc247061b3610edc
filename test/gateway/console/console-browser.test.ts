import type { BrowserContextOptions, Page } from 'playwright-core';
import t from 'tap';
// What the live page runs; in Node it does nothing.
import '../../../src/gateway/console/console-browser.js';
import { PAGES } from '../../../src/gateway/console/pages.js';
import { LOOKS, stumblingBlocks } from '../../servers/accessibility.js';
import { startBrowser } from '../../servers/browser.js';
import { takePicture } from '../../servers/pictures.js';
import { until } from '../../servers/until.js';
import { startFurnished, type Furnished } from './furnished.js';
import { Person } from './person.js';

t.setTimeout(600_000);
/** No less than from one refresh of a page to the next. */
const REFRESH_MS = 10_000;
const furnished = await startFurnished(t);
const browser = await startBrowser(t);

/** Pages by what they are called here: all of the menu, whoever adds to it, and what is behind. */
function pathsOf({ key, customer, refused }: Furnished): ReadonlyMap<string, string> {
  const menu = PAGES.flatMap(({ path, menu: name }) =>
    name === undefined ? [] : [[name.toLowerCase(), path] as const],
  );
  const [overview, ...others] = menu;
  return new Map([
    ...others,
    ['key', `/console/keys/${key}`],
    ['new-key', '/console/keys/new'],
    ['customer', `/console/customers/${customer}`],
    ['new-customer', '/console/customers/new'],
    ['rehearsal', '/console/plans/rehearse'],
    ['rehearsal-of-a-file', '/console/plans/rehearse?file=true'],
    ['upstream', '/console/?upstream=pets'],
    ['request', `/console/why?id=${refused}`],
    ['runbook', '/console/runbooks/PetgateUpstreamDown'],
    ['not-found', '/console/nothing'],
    // Whoever signs in was there before: now it knows what happened since.
    overview!,
  ]);
}

/** What the guides show, by page and look, and how high, so that what is of interest is on it. */
const PICTURES = new Map([
  ['overview-light', 960],
  ['usage-dark', 960],
  ['key-light', 900],
  ['request-phone', 960],
]);

t.test('every page in light, dark and on a phone: nothing sticks out, nobody stumbles', async (t) => {
  for (const { name: look, ...options } of LOOKS) {
    const page = await signedIn(options);
    const errors: string[] = [];
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    if (look === 'light') await furnished.traffic();
    for (const [name, path] of pathsOf(furnished)) {
      await page.goto(furnished.gateway.adminUrl + path);
      const shown = `${name}-${look}`;
      t.strictSame(await stumblingBlocks(page, look), [], shown);
      if (PICTURES.has(shown)) await takePicture(page, `console-${shown}`, { height: PICTURES.get(shown)! });
    }
    await page.goto(`${furnished.gateway.adminUrl}/console/plans/rehearse`);
    await page.click('text="Rehearse"');
    t.match(await page.innerText('h1'), 'Plans, rehearsed');
    t.strictSame(await stumblingBlocks(page, look), [], `rehearsed-${look}`);
    t.strictSame(
      errors.filter((text) => !text.includes('404')),
      [],
      `${look}: the policy of the page keeps nothing of its own out`,
    );
    await page.context().close();
  }
});

t.test('a refresh leaves open what is open and the focus where it is; Pause stops it', async (t) => {
  const page = await signedIn({});
  const summary = page.locator('[data-live] summary').first();
  await until('a plot is there, with the second sample', async () => {
    await page.clock.fastForward(REFRESH_MS);
    return (await summary.count()) > 0;
  });
  await summary.click();
  await summary.focus();
  const mark = (): Promise<unknown> =>
    page.evaluate("document.querySelector('[data-live]').firstElementChild.id = 'before'");
  const refreshed = (): Promise<unknown> => page.waitForSelector('#before', { state: 'detached', timeout: 60_000 });
  await page.evaluate("document.querySelector('[data-live]').insertAdjacentHTML('afterbegin', '<a href=\"/\">x</a>')");
  await mark();
  await page.clock.fastForward(REFRESH_MS);
  await refreshed();
  t.ok(
    await page.evaluate("document.querySelector('[data-live] details').open"),
    'also where something is gone before',
  );
  t.equal(await page.evaluate('document.activeElement.tagName'), 'SUMMARY');
  await page.click('text="Pause"');
  await mark();
  let asked = 0;
  page.on('request', () => (asked += 1));
  await page.clock.fastForward(10 * REFRESH_MS);
  t.ok(await page.evaluate("document.getElementById('before') !== null"));
  t.equal(asked, 0, 'while paused nothing is asked');
  await page.click('text="Resume"');
  await refreshed();
});

t.test('what is live is refreshed by itself, and says when it is not', async (t) => {
  const { program } = furnished.gateway;
  const page = await signedIn({});
  await page.evaluate("document.querySelector('[data-live]').innerHTML = 'old'");
  await page.clock.fastForward(REFRESH_MS);
  await t.resolves(page.waitForSelector('text=Requests per second', { timeout: 60_000 }));
  await program.stop('SIGKILL');
  await page.clock.fastForward(REFRESH_MS);
  await t.resolves(page.waitForSelector('text=the gateway does not respond', { timeout: 60_000 }));
});

/** A page whose clock moves when a test moves it, so that no test waits for a refresh. */
async function signedIn(options: BrowserContextOptions): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  await page.clock.install();
  await Person.signedIn(page, furnished.gateway.adminUrl);
  return page;
}
