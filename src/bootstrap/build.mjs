import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { at, filesIn, readIf, requireWritable, root, sha256 } from './files.mjs';
import { say, seconds, SetupFailure } from './terminal.mjs';

/** The program that `bin` in package.json names. */
export const PROGRAM = at('dist', 'program', 'main.js');
/** Folders that are built module by module, because tests import single modules; as in tsconfig.json. */
const FOLDERS = ['src', 'test', 'grafana'];

/** Files that start as a program, a process or a thread of their own; their names say so. */
const STARTS = /(?:\/cli\/main|-process|-thread)\.ts$/;
/** Scripts that pages load. */
const IN_BROWSER = /-browser\.ts$/;
/** Packages with native code, or that are found by path at run time. */
const NOT_BUNDLED = ['http-proxy', 'ioredis', 'lmdb', 'pg-native'];
/** CommonJS packages call `require`, which an ES module does not have. */
const REQUIRE =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);";

/**
 * Bundles the program into `dist/program`, unless that is up to date: Node starts a few large files in half the time
 * that it takes for hundreds of small ones. Does not check types: `npm run lint` does. Throws SetupFailure with
 * esbuild's messages if a file has a syntax error.
 */
export async function ensureProgram() {
  await ensure([planProgram()]);
}

/** Builds the program, and each module of the program and the tests as a file of its own. */
export async function ensureEverything() {
  await ensure([planProgram(), ...FOLDERS.map(planModules)]);
}

async function ensure(plans) {
  const pending = plans.filter(({ name, digest }) => !isBuilt(name, digest));
  if (pending.length === 0) return;
  requireWritable(at('dist'), 'the program must be built');
  const beganMs = performance.now();
  say('Building …');
  for (const { name } of pending) rmSync(stampOf(name), { force: true });
  for (const { name, digest, build } of pending) {
    const outputs = await build();
    // Otherwise a test whose source was deleted would still run, and pass.
    for (const file of filesIn(at('dist', name))) if (!outputs.includes(relative(root, file))) rmSync(file);
    writeFileSync(stampOf(name), [digest, ...outputs].join('\n'));
  }
  say(`Built in ${seconds(beganMs)}.`);
}

/** Returns the file that records the last build: the digest of its sources, and the files written. */
const stampOf = (name) => at('dist', `.built-${name}`);

function isBuilt(name, wanted) {
  const [digest, ...outputs] = readIf(stampOf(name))?.split('\n') ?? [];
  return digest === wanted && outputs.every((file) => existsSync(at(file)));
}

const digestOf = (sources) =>
  sha256([...sources, ...['src/bootstrap/build.mjs', 'tsconfig.json', 'package-lock.json'].map((file) => at(file))]);
const sourcesOf = (folder) => filesIn(at(folder)).filter((file) => /(?<!\.d)\.tsx?$/.test(file));

function planProgram() {
  const sources = sourcesOf('src');
  const named = (pattern) => sources.filter((file) => pattern.test(file));
  const build = async () => {
    const options = { bundle: true, outdir: at('dist', 'program'), entryNames: '[name]' };
    const outputs = await esbuild({
      ...options,
      entryPoints: named(STARTS),
      splitting: true,
      external: NOT_BUNDLED,
      banner: { js: REQUIRE },
    });
    // npm makes the command executable only when it links it for the first time.
    chmodSync(PROGRAM, 0o755);
    return [...outputs, ...(await esbuild({ ...options, entryPoints: named(IN_BROWSER), platform: 'browser' }))];
  };
  return { name: 'program', digest: digestOf(sources), build };
}

function planModules(folder) {
  const sources = sourcesOf(folder);
  const build = () => esbuild({ entryPoints: sources, outdir: at('dist'), outbase: root, sourcemap: true });
  return { name: folder, digest: digestOf(sources), build };
}

/** @returns the paths of the files written, relative to the project's folder */
async function esbuild(options) {
  // Imported only here: on a bare clone, esbuild is not installed yet when this file is loaded.
  const { build, formatMessages } = await import('esbuild');
  try {
    const { metafile } = await build({
      platform: 'node',
      format: 'esm',
      metafile: true,
      absWorkingDir: root,
      tsconfig: at('tsconfig.json'),
      logLevel: 'silent',
      ...options,
    });
    return Object.keys(metafile.outputs);
  } catch (error) {
    if (!Array.isArray(error.errors)) throw error;
    const messages = await formatMessages(error.errors, { kind: 'error' });
    throw new SetupFailure(`${messages.join('').trimEnd()}\nThe build failed; see the errors above.`);
  }
}
