import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = '@octokit/openapi@23.0.2';
const NAME = 'api.github.com.json';
/** For a registry that never answers. */
const MAX_MS = 180_000;
const folder = fileURLToPath(new URL('../../dist/contracts/', import.meta.url));
const file = join(folder, NAME);

/**
 * GitHub's document into dist/contracts, once: 13 MB out of a package of 540. Throws where the registry can't be had.
 * @returns its path
 */
export function ensureGithub() {
  if (existsSync(file)) return file;
  console.log(`fetching GitHub's document (npm ${PACKAGE}, 29 MB, once)`);
  mkdirSync(folder, { recursive: true });
  const unpacked = mkdtempSync(join(folder, 'unpacked-'));
  try {
    run('npm', ['pack', PACKAGE, '--pack-destination', unpacked, '--fetch-retries', '1', '--loglevel', 'error']);
    const packed = join(unpacked, PACKAGE.replace('@', '').replace('/', '-').replace('@', '-'));
    const member = `package/generated/${NAME}`;
    run('tar', ['-xzf', `${packed}.tgz`, '-C', unpacked, '--strip-components', '2', member]);
    renameSync(join(unpacked, NAME), file);
  } finally {
    rmSync(unpacked, { recursive: true, force: true });
  }
  return file;
}

function run(command, args) {
  const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: MAX_MS });
  if (status !== 0) throw new Error(`${command} ${args[0]}: ${error?.message ?? stderr.trim()}`);
}
