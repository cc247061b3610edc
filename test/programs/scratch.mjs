import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LIBRARIES = ['usr/lib/x86_64-linux-gnu', 'usr/lib/aarch64-linux-gnu', 'usr/lib'];

/** The folder that packages are unpacked into; kept for the next run. */
export function openScratch() {
  const root = process.env['PROGRAMS_FOLDER'] || join(tmpdir(), 'petgate-programs');
  const debian = join(root, 'debian');
  const npm = join(root, 'npm');
  for (const folder of [debian, npm, join(root, 'debs')]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(npm, 'package.json'), '{"private": true, "overrides": {"node-fetch": "2.6.7"}}\n');
  const environment = {
    ...process.env,
    PATH: ['usr/bin', 'usr/sbin'].map((name) => join(debian, name)).join(':') + `:${process.env['PATH']}:/usr/sbin`,
    LD_LIBRARY_PATH: LIBRARIES.map((name) => join(debian, name)).join(':'),
    PYTHONPATH: join(debian, 'usr/lib/python3/dist-packages'),
    HOME: root,
  };
  let runs = 0;
  const folderFor = (name) => {
    const folder = join(root, 'runs', `${process.pid}-${(runs += 1)}`);
    mkdirSync(folder, { recursive: true });
    return { name, folder, npm, debian, environment, run: runner(environment, folder) };
  };
  return { root, debian, npm, environment, folderFor };
}

/** Why the packages of a program cannot be had; null when they are there. */
export function install(scratch, { debian = [], npm = [], commands = [] }) {
  const missing = debian.filter(([, file]) => !existsSync(file) && !existsSync(join(scratch.debian, file)));
  for (const [name, file] of missing) {
    unpack(scratch, name);
    if (!existsSync(join(scratch.debian, file))) return `Debian's ${name} cannot be had`;
  }
  const absent = npm.filter((name) => !existsSync(join(scratch.npm, 'node_modules', name.replace(/(.)@.*$/, '$1'))));
  if (absent.length > 0) {
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', scratch.npm, ...absent];
    if (spawnSync('npm', args, { stdio: 'ignore' }).status !== 0) return `${absent.join(', ')} cannot be had from npm`;
  }
  const path = scratch.environment.PATH.split(':');
  const without = commands.filter((name) => !path.some((folder) => existsSync(join(folder, name))));
  return without.length > 0 ? `${without.join(', ')} is not installed` : null;
}

/** A package of Debian with what it needs and this machine lacks, without installing any. */
function unpack({ root, debian }, name) {
  const args = ['install', '-y', '--print-uris', '--no-install-recommends', name];
  const { stdout = '' } = spawnSync('apt-get', args, { encoding: 'utf8' });
  const needed = [...stdout.matchAll(/^'\S+\/([^_/]+)_\S+' /gm)].map(([, each]) => each);
  const folder = join(root, 'debs', name);
  mkdirSync(folder, { recursive: true });
  spawnSync('apt-get', ['download', ...needed], { cwd: folder, stdio: 'ignore' });
  for (const file of readdirSync(folder)) spawnSync('dpkg', ['-x', join(folder, file), debian]);
}

/** Runs a command to its end, and gives its output; rejects unless it succeeds. */
function runner(environment, folder) {
  return (command, args, more = {}) =>
    new Promise((resolve, reject) => {
      const child = spawn(command, args, {
        cwd: folder,
        timeout: 120_000,
        ...more,
        env: { ...environment, ...more.env },
      });
      let output = '';
      child.stdout?.on('data', (piece) => (output += piece));
      child.stderr?.on('data', (piece) => (output += piece));
      child.on('error', reject);
      child.on('close', (code) =>
        code === 0
          ? resolve(output)
          : reject(new Error(`${command} ${args[0]} ended with ${code}: ${output.slice(-400)}`)),
      );
    });
}
