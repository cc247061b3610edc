import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { packageRoot } from '../../src/shared/package-root.js';

const FOLDER = join(packageRoot, 'dist/screenshots');
const DOCUMENTED = join(packageRoot, 'docs/images');

type Size = NonNullable<ReturnType<Page['viewportSize']>>;

/** A picture of the upper part of a page, in dist/screenshots; with PETGATE_SCREENSHOTS also for the guides. */
export async function takePicture(page: Page, name: string, shown: Partial<Size> = {}): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const file = join(FOLDER, `${name}.png`);
  const size = page.viewportSize()!;
  await page.setViewportSize({ ...size, height: 960, ...shown });
  await page.screenshot({ path: file });
  await page.setViewportSize(size);
  if ((process.env['PETGATE_SCREENSHOTS'] ?? '') === '') return;
  mkdirSync(DOCUMENTED, { recursive: true });
  copyFileSync(file, join(DOCUMENTED, `${name}.png`));
}
