import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import t from 'tap';
import { DAY_MS } from '../../../src/gateway/admission/bucket.js';
import { parseToken } from '../../../src/gateway/accounts/token.js';
import { ADMIN_TOKEN, listen } from '../admin/listener.js';

/** A folder to keep screenshots in, for a person to look at. */
const SHOTS = process.env['PETGATE_SCREENSHOTS'] ?? '';

t.test('the page shows plot, legend and table in Chromium, in light and dark, and asks nobody else', async (t) => {
  const { engine, registry, port } = await listen(t);
  const todayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  registry.nowMs = () => Promise.resolve(todayMs + DAY_MS / 2);
  const day = (back: number): string => new Date(todayMs - back * DAY_MS).toISOString().slice(0, 10);
  let sum = 0;
  for (const [place, plan] of ['free', 'pro', 'enterprise'].entries()) {
    const { token } = await registry.create({
      plan,
      name: `<b>${plan}`,
      ...(plan === 'enterprise' ? { limits: { minute: 'unlimited', day: 'unlimited' } } : {}),
    });
    const subject = { kind: 'key' as const, ...parseToken(token, 'staging', false)! };
    for (let back = 29; back >= 0; back -= 1) {
      const times = 5 + ((back * (3 + place) + 11 * place) % 40);
      sum += times;
      await engine.admit(
        Array.from({ length: times }, () => ({
          subject,
          operation: 'listPets',
          scope: null,
          cost: 1 as const,
          nowMs: todayMs - back * DAY_MS + 1,
        })),
      );
    }
  }
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
  t.teardown(() => browser.close());
  const context = await browser.newContext({
    httpCredentials: { username: 'ops', password: ADMIN_TOKEN },
    viewport: { width: 1100, height: 900 },
  });
  const page = await context.newPage();
  const asked: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));

  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto(`http://127.0.0.1:${port}/admin/usage?from=${day(29)}&to=${day(0)}&by=plan`);
    const bars = page.locator('svg g.day');
    t.equal(await bars.count(), 30, 'one bar a day');
    t.equal(await page.locator('svg g.open').count(), 1, 'today is not final');
    t.same(await page.locator('.legend .swatch').count(), 3);
    const told = (await bars.locator('title').allTextContents()).map((title) =>
      Number(/: ([\d,]+)/.exec(title)?.[1]?.replaceAll(',', '')),
    );
    t.equal(
      told.reduce((all, one) => all + one, 0),
      sum,
      'the bars add up to the ledger',
    );
    t.equal(await page.locator('tfoot td').nth(1).textContent(), sum.toLocaleString('en-US'));
    const colours = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.swatch')].map((each) => ` +
        `getComputedStyle(each).backgroundColor).concat(getComputedStyle(document.body).backgroundColor)`,
    );
    t.equal(new Set(colours).size, 4, 'the style sheet holds: every plan has a colour of its own, unlike the page');
    const heights = await page.evaluate<number[]>(
      `[...document.querySelectorAll('svg g.day')].map((day) => ` +
        `Math.round([...day.querySelectorAll('rect:not(.hover)')].reduce((sum, rect) => sum + ` +
        `rect.getBoundingClientRect().height, 0)))`,
    );
    const tallest = told.indexOf(Math.max(...told));
    t.equal(heights.indexOf(Math.max(...heights)), tallest, 'the day with most requests is the tallest');
    if (SHOTS !== '') {
      mkdirSync(SHOTS, { recursive: true });
      writeFileSync(join(SHOTS, `usage-${colorScheme}.png`), await page.screenshot({ fullPage: true }));
    }
  }

  await page.locator('select[name=by]').selectOption('plan,day');
  await page.locator('button').click();
  await page.waitForURL(/by=plan%2Cday/);
  t.equal(await page.locator('tbody tr').count(), 90, 'the form asks for another grouping');
  await page.setViewportSize({ width: 390, height: 800 });
  t.ok(
    await page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth'),
    'a phone need not scroll sideways',
  );
  t.same(complaints, [], 'Chromium has nothing to complain of');
  t.ok(
    asked.every((url) => url.startsWith(`http://127.0.0.1:${port}/admin/`)),
    'nothing is asked of anybody else',
  );
});
