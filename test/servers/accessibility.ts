import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** How pages are looked at. */
export const LOOKS = [
  { name: 'light', viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { name: 'dark', viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  { name: 'phone', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
] as const;

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** What axe is to look for: in the dark, only the colours differ; on a phone, everything but these. */
const RULES = {
  light: {},
  dark: { runOnly: ['color-contrast'] },
  phone: { rules: { 'color-contrast': { enabled: false } } },
} as const satisfies Record<(typeof LOOKS)[number]['name'], object>;
/** Otherwise axe also describes everything that is right, and fetches style sheets once more. */
const ONLY = { resultTypes: ['violations'], preload: false };

/** What a reader would stumble over: what axe finds, by rule, and whatever is wider than the window. */
export async function stumblingBlocks(page: Page, look: keyof typeof RULES): Promise<readonly string[]> {
  const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  return [...(await broken(page, RULES[look])), ...(isWide === true ? ['wider than the window'] : [])];
}

async function broken(page: Page, rules: object): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResult>(`axe.run(${JSON.stringify({ ...ONLY, ...rules })})`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
