import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './buildah.mjs';

const SUITE = 'bookworm';
const CERTIFICATES = '/etc/ssl/certs/extra.pem';

/**
 * Makes what the Dockerfile begins with, under its name, where no registry of images can be reached: a minimal
 * Debian from the mirror this machine uses, Node of `major` and npm from npm's packages, and the user node (1000).
 */
export function makeBase(buildah, folder, image, major) {
  const root = join(folder, 'debian');
  const mirror = mirrorOf(SUITE);
  run('debootstrap', ['--variant=minbase', '--include=ca-certificates', SUITE, root, ...mirror]);
  // What the official image leaves out too.
  for (const part of ['var/cache/apt', 'var/lib/apt/lists', 'var/log']) {
    rmSync(join(root, part), { recursive: true });
    mkdirSync(join(root, part));
  }
  addNode(folder, root, major);
  run('chroot', [root, 'groupadd', '--gid', '1000', 'node']);
  run('chroot', [root, 'useradd', '--uid', '1000', '--gid', 'node', '--shell', '/bin/bash', '--create-home', 'node']);

  const settings = ['--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', '--cmd', 'node'];
  const certificates = process.env.NODE_EXTRA_CA_CERTS ?? '';
  if (certificates !== '') {
    cpSync(certificates, join(root, CERTIFICATES), { dereference: true });
    settings.push('--env', `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`);
  }
  const container = buildah.do('from', 'scratch');
  buildah.do('add', '--quiet', container, root, '/');
  buildah.do('config', ...settings, container);
  buildah.do('commit', '--quiet', '--format', 'docker', '--rm', container, image);
  rmSync(root, { recursive: true });
}

function addNode(folder, root, major) {
  const packages = join(folder, 'packages');
  run('npm', ['install', '--prefix', packages, '--no-audit', '--no-fund', `node@${major}`, 'npm@11']);
  const modules = join(packages, 'node_modules');
  const local = join(root, 'usr', 'local');
  cpSync(join(modules, 'node', 'bin', 'node'), join(local, 'bin', 'node'), { dereference: true });
  cpSync(join(modules, 'npm'), join(local, 'lib', 'node_modules', 'npm'), { recursive: true, verbatimSymlinks: true });
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name));
}

/** The mirror that apt takes `suite` from, as debootstrap's argument; nothing where apt has no such suite. */
function mirrorOf(suite) {
  const format = ['--format', '$(REPO_URI)', `Codename: ${suite}`, 'Component: main', 'Created-By: Packages'];
  return run('apt-get', ['indextargets', ...format])
    .split('\n')
    .filter((line) => /^https?:/.test(line))
    .slice(0, 1);
}
