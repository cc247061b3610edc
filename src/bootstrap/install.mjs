import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { at, readIf, requireWritable, sha256, writeError } from './files.mjs';
import { runNpm } from './npm.mjs';
import { say, seconds, SetupFailure } from './terminal.mjs';

/**
 * Installs the pinned dependencies, unless they are already there.
 * @param developer true: also the tools for building, testing and linting; adds only what is missing
 */
export async function ensureInstalled({ developer }) {
  checkNode();
  const stamp = at('node_modules', developer ? '.petgate-installed-all' : '.petgate-installed');
  const wanted = `${sha256([at('package-lock.json')])} node${process.versions.node.split('.')[0]}`;
  if (readIf(stamp) === wanted) return;
  const folder = at('node_modules');
  if (isInstalled(developer)) {
    // If the folder is not writable, the next start checks again.
    if (writeError(folder) === undefined) writeFileSync(stamp, wanted);
    return;
  }
  requireWritable(folder, 'the dependencies must be installed');
  rmSync(stamp, { force: true });
  const beganMs = performance.now();
  say(developer ? 'Installing the developer tools (once) …' : 'Installing dependencies (once) …');
  // `npm ci` deletes node_modules first; if a part is already there, `npm install` adds the rest of the same lock file.
  const adds = developer && isInstalled(false);
  await runNpm([
    ...(adds ? ['install', '--no-save'] : ['ci']),
    '--ignore-scripts',
    developer ? '--include=dev' : '--omit=dev',
    '--no-audit',
    '--no-fund',
  ]);
  writeFileSync(stamp, wanted);
  say(`Installed in ${seconds(beganMs)}.`);
}

/** Throws SetupFailure if Node is older than package.json requires. */
function checkNode() {
  const oldest = JSON.parse(readFileSync(at('package.json'), 'utf8')).engines.node.replace('>=', '');
  const numbers = (version) => version.split('.').map((part) => Number.parseInt(part, 10));
  const [have, want] = [numbers(process.versions.node), numbers(oldest)];
  const differing = have.findIndex((part, index) => part !== want[index]);
  if (differing !== -1 && have[differing] < want[differing]) {
    throw new SetupFailure(
      `Petgate needs Node ${oldest} or newer; this is ${process.versions.node}. Install a newer one from ` +
        'https://nodejs.org.',
    );
  }
}

/** Returns whether npm finished an install of exactly this lock file: npm writes its own list of packages last. */
function isInstalled(developer) {
  const installed = readIf(at('node_modules', '.package-lock.json'));
  if (installed === undefined) return false;
  try {
    const have = JSON.parse(installed).packages;
    const want = JSON.parse(readFileSync(at('package-lock.json'), 'utf8')).packages;
    return Object.entries(want).every(
      ([path, { version, dev, optional, devOptional }]) =>
        path === '' ||
        (dev && !developer) ||
        (have[path]?.version ?? (optional || devOptional ? version : undefined)) === version,
    );
  } catch {
    return false;
  }
}
