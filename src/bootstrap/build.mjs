import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { at, filesIn, readIf, requireWritable, root, sha256 } from './files.mjs';
import { say, seconds, SetupFailure } from './terminal.mjs';

/** The command of package.json. */
export const PROGRAM = at('dist', 'src', 'cli', 'main.js');
export const PRODUCT = ['src'];
/** As in tsconfig.json. */
export const EVERYTHING = ['src', 'test', 'grafana'];

/**
 * Transpiles these folders into `dist`, unless that is done already. Does not check types: `npm run lint` does.
 * Throws SetupFailure with esbuild's messages when a file has a syntax error.
 */
export async function ensureBuilt(folders) {
  const pending = folders.map(planOf).filter(({ isDone }) => !isDone);
  if (pending.length === 0) return;
  requireWritable(at('dist'), 'the program must be built');
  const beganMs = performance.now();
  say('Building …');
  for (const { stamp } of pending) rmSync(stamp, { force: true });
  await transpile(pending.flatMap(({ sources }) => sources));
  for (const { folder, sources, stamp, digest } of pending) {
    removeStale(folder, new Set(sources.map(outputOf)));
    mkdirSync(at('dist'), { recursive: true });
    writeFileSync(stamp, digest);
  }
  // npm makes the command executable only when it links it for the first time.
  chmodSync(PROGRAM, 0o755);
  say(`Built in ${seconds(beganMs)}.`);
}

function planOf(folder) {
  const sources = filesIn(at(folder)).filter((file) => /(?<!\.d)\.tsx?$/.test(file));
  const stamp = at('dist', `.built-${folder}`);
  const digest = sha256([...sources, at('tsconfig.json'), at('package-lock.json')]);
  const isDone = readIf(stamp) === digest && sources.every((file) => existsSync(outputOf(file)));
  return { folder, sources, stamp, digest, isDone };
}

async function transpile(sources) {
  // Only now: on a bare clone it was not installed when this file was loaded.
  const { build, formatMessages } = await import('esbuild');
  try {
    await build({
      entryPoints: sources,
      outdir: at('dist'),
      outbase: root,
      absWorkingDir: root,
      tsconfig: at('tsconfig.json'),
      platform: 'node',
      format: 'esm',
      sourcemap: true,
      logLevel: 'silent',
    });
  } catch (error) {
    if (!Array.isArray(error.errors)) throw error;
    const messages = await formatMessages(error.errors, { kind: 'error' });
    throw new SetupFailure(`${messages.join('').trimEnd()}\nThe build failed; see the errors above.`);
  }
}

function outputOf(source) {
  return at('dist', relative(root, source).replace(/\.tsx?$/, '.js'));
}

/** A test whose source is gone would still run, and pass. */
function removeStale(folder, outputs) {
  for (const file of filesIn(at('dist', folder))) if (!outputs.has(file.replace(/\.map$/, ''))) rmSync(file);
}
