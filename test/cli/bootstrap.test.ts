import t from 'tap';
import type { Test } from 'tap';
import type { SpawnOptions } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../src/shared/package-root.js';
import { run } from './programs.js';

/** A small project of the same shape, whose `petgate` says how it was called and ends with code 7. */
function project(t: Test, more: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'petgate-bootstrap-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const at = (path: string): string => join(folder, path);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  mkdirSync(at('src'));
  mkdirSync(at('test'));
  for (const file of ['package-lock.json', 'src/bootstrap.mjs']) copyFileSync(join(packageRoot, file), at(file));
  cpSync(join(packageRoot, 'src/bootstrap'), at('src/bootstrap'), { recursive: true });
  // What is installed is the real thing; only what is built from it is tried here.
  symlinkSync(join(packageRoot, 'node_modules'), at('node_modules'));
  const files = {
    'package.json': readFileSync(join(packageRoot, 'package.json'), 'utf8'),
    'tsconfig.json': readFileSync(join(packageRoot, 'tsconfig.json'), 'utf8'),
    'src/cli/main.ts': `process.stdout.write('called ' + process.argv[2] + '\\n');\nprocess.exitCode = 7;\n`,
    ...more,
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  return { write, at };
}

/** Runs the bootstrap of the project in `folder`. */
function bootstrap(folder: string, word = 'start', env: NodeJS.ProcessEnv = {}, user: SpawnOptions = {}) {
  const surroundings = { PATH: process.env['PATH'], NODE_ENV: 'production', ...env };
  return run([join(folder, 'src/bootstrap.mjs'), word], { ...user, env: surroundings });
}

t.test('start builds once, hands over, and ends with the same exit code', async (t) => {
  const { at } = project(t);
  const first = await bootstrap(at('.'));
  t.ok(statSync(at('dist/program/main.js')).mode & 0o100, '`./petgate` can run what was built');
  t.match(first, { code: 7, stdout: /^Building …\nBuilt in [\d.]+ s\.\ncalled start\n$/, stderr: '' });
  t.match(await bootstrap(at('.')), { code: 7, stdout: /^called start\n$/, stderr: '' });
});

t.test('a changed source, a lost output and a lost source are each built again', async (t) => {
  const { at, write } = project(t, { 'src/old-process.ts': 'export const old = 1;\n' });
  await bootstrap(at('.'));
  t.ok(existsSync(at('dist/program/old-process.js')));
  write('src/cli/main.ts', `process.stdout.write('changed\\n');\n`);
  t.match(await bootstrap(at('.')), { code: 0, stdout: /Built in[^]*changed\n$/ });
  rmSync(at('dist/program/main.js'));
  t.match(await bootstrap(at('.')), { code: 0, stdout: /Built in[^]*changed\n$/ });
  rmSync(at('src/old-process.ts'));
  t.match(await bootstrap(at('.')), { code: 0, stdout: /Built in/ });
  t.notOk(existsSync(at('dist/program/old-process.js')), 'an output without a source would still run');
});

t.test('a build that fails says why, ends with 1, and is tried again', async (t) => {
  const { at } = project(t, { 'src/wrong-process.ts': 'export const wrong = ;\n' });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const failed = await bootstrap(at('.'));
    t.match(failed, { code: 1, stderr: /Unexpected ";"[^]*src\/wrong-process\.ts:1:21[^]*The build failed/ });
    t.notMatch(failed.stdout, 'called');
  }
});

t.test('a registry that cannot be reached ends the first start with a sentence', async (t) => {
  const { at } = project(t);
  rmSync(at('node_modules'));
  const failed = await bootstrap(at('.'), 'start', {
    npm_config_registry: 'http://127.0.0.1:1/',
    npm_config_cache: at('cache'),
  });
  t.match(failed, { code: 1, stderr: /^The package registry cannot be reached \(ECONNREFUSED\)/ });
});

t.test('where there is no npm, that is all it says', async (t) => {
  const { at } = project(t);
  rmSync(at('node_modules'));
  const failed = await bootstrap(at('.'), 'start', { PATH: at('empty') });
  t.match(failed, { code: 1, stderr: /^npm could not be started \(ENOENT\)/ });
  t.notMatch(failed.stderr, 'not answered yet');
});

t.test('too old a Node is one clear line, and an unknown command is exit code 2', async (t) => {
  const { at, write } = project(t);
  t.match(await bootstrap(at('.'), 'strat'), { code: 2, stderr: /start \| dev \| lint/ });
  write('package.json', JSON.stringify({ type: 'module', engines: { node: '>=99.0.0' } }));
  t.match(await bootstrap(at('.')), {
    code: 1,
    stdout: '',
    stderr: /^Petgate needs Node 99\.0\.0 or newer; this is [\d.]+\. Install a newer one from \S+\n$/,
  });
});

t.test('through a symbolic link it does the same', async (t) => {
  const { at } = project(t);
  const link = `${at('.')}-link`;
  symlinkSync(at('.'), link);
  t.teardown(() => rmSync(link));
  t.match(await bootstrap(link), {
    code: 7,
    stdout: /called start\n$/,
    stderr: '',
  });
  t.match(await bootstrap(link, 'strat'), { code: 2 });
});

/** Debian's `nobody`, for whom nothing here is writable; root may write everywhere. */
const STRANGER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

t.test('a folder that may not be written: what is built runs, what is not says so in a line', async (t) => {
  const { at } = project(t);
  await bootstrap(at('.'));
  // Installed by npm itself, which leaves no stamp of ours.
  rmSync(at('node_modules'));
  mkdirSync(at('node_modules'));
  copyFileSync(join(packageRoot, 'node_modules/.package-lock.json'), at('node_modules/.package-lock.json'));
  const folders = ['.', 'node_modules', 'dist'];
  const setMode = (mode: number): void =>
    folders.filter((folder) => existsSync(at(folder))).forEach((folder) => chmodSync(at(folder), mode));
  const [close, open] = [() => setMode(0o555), () => setMode(0o755)];
  t.teardown(open);
  close();
  t.match(await bootstrap(at('.'), 'start', {}, STRANGER), {
    code: 7,
    stdout: /^called start\n$/,
    stderr: '',
  });
  open();
  rmSync(at('dist'), { recursive: true });
  close();
  const line = new RegExp(
    '^\\S+ may not be written by this user \\(EACCES\\), and the ' +
      '(?:dependencies must be installed|program must be built) in it\\. Run npm start.*\n$',
  );
  t.match(await bootstrap(at('.'), 'start', {}, STRANGER), { code: 1, stdout: '', stderr: line }, 'not built');
  open();
  rmSync(at('node_modules'), { recursive: true });
  close();
  t.match(await bootstrap(at('.'), 'start', {}, STRANGER), { code: 1, stdout: '', stderr: line }, 'not installed');
});
