import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { at, readIf, requireWritable, sha256, writeError } from './files.mjs';
import { run } from './run.mjs';
import { say, seconds, SetupFailure } from './terminal.mjs';

const STAMP = at('node_modules', '.petgate-installed');
/** The only npm settings passed on from the environment: the registry and how to reach it. */
const NPM_SETTINGS = new RegExp(
  '^npm_config_(registry|@|//|_auth|proxy|https?[-_]proxy|noproxy|ca$|cafile|strict[-_]ssl|cache$|' +
    'userconfig|globalconfig)',
  'i',
);

/** Installs the pinned dependencies unless they are there already. Says so in two lines when it does. */
export async function ensureInstalled() {
  checkNode();
  const wanted = `${sha256([at('package-lock.json')])} node${process.versions.node.split('.')[0]}`;
  if (readIf(STAMP) === wanted) return;
  const folder = at('node_modules');
  if (isInstalled()) {
    // Where it can't be noted down it is found out again at the next start.
    if (writeError(folder) === undefined) writeFileSync(STAMP, wanted);
    return;
  }
  requireWritable(folder, 'the dependencies must be installed');
  rmSync(STAMP, { force: true });
  const beganMs = performance.now();
  say('Installing dependencies (a minute or so, once) …');
  const npm = process.env.npm_execpath?.endsWith('.js') ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const [command, ...before] = npm;
  const { code, output } = await run(
    command,
    [...before, 'ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund'],
    npmEnvironment(),
  );
  if (code !== 0)
    throw new SetupFailure(
      `${output.trimEnd()}\nThe dependencies could not be installed. Is the package registry reachable? Then ` +
        'start again.',
    );
  writeFileSync(STAMP, wanted);
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

/** True when npm finished an install of exactly this lock by itself: it writes its own list of packages last. */
function isInstalled() {
  const installed = readIf(at('node_modules', '.package-lock.json'));
  if (installed === undefined) return false;
  try {
    const have = JSON.parse(installed).packages;
    const want = JSON.parse(readFileSync(at('package-lock.json'), 'utf8')).packages;
    return Object.entries(want).every(
      ([path, { version, optional, devOptional }]) =>
        path === '' || (have[path]?.version ?? (optional || devOptional ? version : undefined)) === version,
    );
  } catch {
    return false;
  }
}

/** Without what `npm start` hands down (omit, prefix, ignore-scripts …): it is meant for that npm, not for the next. */
function npmEnvironment() {
  const kept = Object.entries(process.env).filter(
    ([name]) => name !== 'NODE_ENV' && (!/^npm_/i.test(name) || NPM_SETTINGS.test(name)),
  );
  return Object.fromEntries(kept);
}
