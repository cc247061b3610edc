import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { at, readIf, requireWritable, sha256, writeError } from './files.mjs';
import { runNpm } from './npm.mjs';
import { say, seconds, SetupFailure } from './terminal.mjs';

/**
 * Installs the pinned dependencies, unless they are there already.
 * @param developer true: with the tools that build, test and lint need; only what is missing is added
 */
export async function ensureInstalled({ developer }) {
  checkNode();
  const stamp = at('node_modules', developer ? '.petgate-installed-all' : '.petgate-installed');
  const wanted = `${sha256([at('package-lock.json')])} node${process.versions.node.split('.')[0]}`;
  if (readIf(stamp) === wanted) return;
  const folder = at('node_modules');
  if (isInstalled(developer)) {
    // Where this cannot be written, the next start checks again.
    if (writeError(folder) === undefined) writeFileSync(stamp, wanted);
    return;
  }
  requireWritable(folder, 'the dependencies must be installed');
  rmSync(stamp, { force: true });
  const beganMs = performance.now();
  say(developer ? 'Installing the developer tools (once) …' : 'Installing dependencies (once) …');
  // `npm ci` starts from nothing; with a part in place, `npm install` adds the rest of the same lock.
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

/** Throws SetupFailure on a Node older than package.json asks for. */
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

/** True when npm finished an install of exactly this lock: it writes its own list of packages last. */
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
