import t from 'tap';
import { startBrowser } from '../../servers/browser.js';
import { startGateway } from '../../servers/gateway.js';
import { GITHUB, NO_GITHUB } from '../../servers/github.js';

/** A second on a machine that has nothing else to do. */
const MAX_MS = 20_000;

t.test('of a large document every page is shown in little time', { skip: NO_GITHUB }, async (t) => {
  const gateway = await startGateway(t, { config: { contract: GITHUB } });
  const page = await (await startBrowser(t)).newPage();
  const troubles: string[] = [];
  page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()));
  page.on('pageerror', (error) => troubles.push(error.message));
  const measure = async (what: string, open: () => Promise<unknown>, selector: string): Promise<void> => {
    const started = performance.now();
    await open();
    await page.waitForSelector(selector, { timeout: MAX_MS });
    t.comment(`${what}: ${((performance.now() - started) / 1000).toFixed(2)} s`);
    t.pass(what);
  };
  const docs = `${gateway.url}/_petgate/docs`;
  const open = (id: string) => () => page.goto(`${docs}?operation=${encodeURIComponent(id)}`);
  await measure('the overview', () => page.goto(docs), 'h1');
  t.equal(await page.locator('#operations li').count(), 1224);
  await measure('the overview again', () => page.goto(docs), 'h1');
  await measure('an operation', open('emojis/get'), '#responses');
  await measure('an operation with many fields', open('activity/list-public-events'), '#responses');
  t.ok((await page.locator('#operations li').count()) < 100, 'those of its tag');
  await measure('search', () => page.fill('#operations input', 'emojis/get'), '[role=status]:text("1 found")');
  t.equal(await page.locator('#operations li').count(), 1224, 'the list is complete now');
  await page.fill('#operations input', 'gists/list-starred');
  const openFound = () => page.click('#operations li a:visible');
  await measure('one of another tag', openFound, 'dd code:text("gists/list-starred")');
  t.same(troubles, [], 'the console stays clean');
});
