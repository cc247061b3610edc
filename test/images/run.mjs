/**
 * Builds both images of the Dockerfile, looks into them and starts them, on a read-only root:
 *   npm run test:images
 * Needs root on Debian, and takes minutes; what is missing (buildah, debootstrap) it installs. No registry of images
 * is asked: the base is made from Debian's and npm's packages. Everything lies in a temporary folder, which goes
 * afterwards. Last line: `N passed, N failed`.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureNeeds } from '../runner/needs.mjs';
import { Tally } from '../runner/tally.mjs';
import { makeBase } from './base.mjs';
import { Buildah } from './buildah.mjs';
import { checkContents } from './check-contents.mjs';
import { checkRunning } from './check-running.mjs';
import { Container } from './container.mjs';
import { makeContext } from './context.mjs';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
const NEEDS = ['buildah', 'debootstrap'].map((program) => ({ program, package: program }));
const tally = new Tally();

function check(ok, promise, found) {
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${promise}`);
  if (ok) tally.pass();
  else tally.fail(promise, { found, wanted: undefined });
}

/** @returns what `work` gives, after a line that says how long it took */
function timed(name, work) {
  const beganMs = performance.now();
  const result = work();
  console.log(`     ${name} in ${((performance.now() - beganMs) / 1_000).toFixed(0)} s`);
  return result;
}

async function testImages(folder) {
  const [, image, major] = /^FROM (node:(\d+)\S*) AS base$/m.exec(readFileSync('Dockerfile', 'utf8'));
  const secret = `secret-${randomBytes(12).toString('hex')}`;
  const buildah = new Buildah(folder);
  const base = `docker.io/library/${image}`;
  timed(`base ${image} made`, () => makeBase(buildah, folder, base, major));
  const { context, npm } = makeContext(folder, secret);
  const images = {};
  for (const target of ['gateway', 'pets']) {
    images[target] = timed(`${target} built`, () => buildah.build(target, context, npm));
    checkContents(check, buildah, { base, image: images[target], target, secret });
  }
  await checkRunning(check, buildah, folder, images);
}

/** Also what a program that was ended in the middle left mounted: nothing of the machine may go with the folder. */
function remove(folder) {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4]);
  for (const mount of mounts.filter((path) => path?.startsWith(`${folder}/`)).reverse())
    execFileSync('umount', ['--lazy', mount]);
  // Node's own way takes minutes with so many files.
  execFileSync('rm', ['-rf', '--one-file-system', folder]);
}

if (process.getuid?.() !== 0) {
  tally.fault(
    'images',
    'building a base image and mounting it read-only takes root: run it as root, in a virtual machine or a ' +
      'container of its own if you like',
  );
} else {
  const folder = mkdtempSync(join(tmpdir(), 'petgate-images-'));
  const leave = (signal) => {
    Container.killAll();
    remove(folder);
    process.kill(process.pid, signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, leave);
  try {
    ensureNeeds(NEEDS);
    await testImages(folder);
  } catch (error) {
    tally.fault('images', error.message);
  } finally {
    Container.killAll();
    remove(folder);
  }
}
tally.print();
process.exitCode = tally.failed === 0 ? 0 : 1;
