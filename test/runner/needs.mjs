import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ensureGithub } from '../contracts/github.mjs';

/** Programs the tests start themselves, and the Debian package that brings each. */
const NEEDS = [
  { program: 'redis-server', package: 'redis-server' },
  { program: 'initdb', package: 'postgresql' },
  { program: 'pgbouncer', package: 'pgbouncer' },
  { program: 'chromium', package: 'chromium' },
  { program: 'promtool', package: 'prometheus' },
  { program: 'openssl', package: 'openssl' },
  { program: 'curl', package: 'curl' },
  { program: 'haproxy', package: 'haproxy' },
  { program: 'testssl', package: 'testssl.sh' },
  { program: 'luacheck', package: 'lua-check' },
];
const POSTGRES = '/usr/lib/postgresql';
const POLICY = '/usr/sbin/policy-rc.d';

/**
 * Installs from Debian's packages what is absent, when root; throws with what to install when that can't be done.
 * @param needs programs, and the package that brings each; without, what `npm test` needs
 */
export function ensureNeeds(needs = NEEDS) {
  const packages = needs.filter(({ program }) => !isThere(program)).map((need) => need.package);
  if (packages.length === 0) return;
  const command = `apt-get install --no-install-recommends ${packages.join(' ')}`;
  if (!mayInstall()) throw new Error(`The tests need ${packages.join(' and ')}. On Debian, as root: ${command}`);
  console.log(`installing ${packages.join(', ')} from Debian's packages`);
  installPackages(packages);
  const missing = needs.filter(({ program }) => !isThere(program));
  if (missing.length > 0)
    throw new Error(`${missing.map(({ program }) => program).join(' and ')} still missing after: ${command}`);
}

/** What no package of Debian brings. Tests that need what can't be had are skipped, and this says so. */
export function ensureDocuments(files) {
  if (!files.some((file) => readFileSync(file, 'utf8').includes('/servers/github.js'))) return;
  try {
    ensureGithub();
  } catch (error) {
    console.log(`SKIPPED: all that is tested with GitHub's document, which can't be had. ${error.message}`);
  }
}

/** Of Debian, when root; throws when that can't be done. */
export function installPackages(packages) {
  if (!mayInstall())
    throw new Error(`On Debian, as root: apt-get install --no-install-recommends ${packages.join(' ')}`);
  withoutServices(() => {
    apt(['update', '-qq']);
    apt(['install', '-y', '-qq', '--no-install-recommends', ...packages]);
  });
}

function mayInstall() {
  return process.getuid?.() === 0 && inPath('apt-get');
}

function isThere(program) {
  if (inPath(program)) return true;
  const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES) : [];
  return versions.some((version) => isProgram(join(POSTGRES, version, 'bin', program)));
}

function inPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => isProgram(join(folder, program)));
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Debian starts what it installs. The tests start their own, on free ports: nothing of it may stay behind on 6379, 5432
 * or 9090.
 */
function withoutServices(install) {
  const ours = !existsSync(POLICY);
  if (ours) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    install();
  } finally {
    if (ours) rmSync(POLICY, { force: true });
  }
}

function apt(args) {
  const { status } = spawnSync('apt-get', args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (status !== 0)
    throw new Error(`apt-get ${args.join(' ')} failed: see above, then run it by hand and repeat npm test`);
}
