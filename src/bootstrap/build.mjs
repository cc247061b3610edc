import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { at, filesIn, readIf, requireWritable, root, sha256, TSC } from './files.mjs';
import { run } from './run.mjs';
import { say, seconds, SetupFailure } from './terminal.mjs';

const STAMP = at('dist', '.petgate-built');
/** What is compiled; as in tsconfig.json. */
const SOURCE_FOLDERS = ['src', 'test', 'grafana'];
/** The command of package.json. */
export const PROGRAM = at('dist', 'src', 'cli', 'main.js');

/** Compiles unless `dist` is of these very sources. Says so in two lines when it does. */
export async function ensureBuilt() {
  const sources = SOURCE_FOLDERS.flatMap((folder) => filesIn(at(folder))).filter((file) =>
    /(?<!\.d)\.tsx?$/.test(file),
  );
  const wanted = sha256([...sources, at('tsconfig.json'), at('package-lock.json')]);
  const isWhole = sources.every((file) => existsSync(outputOf(file)));
  if (isWhole && readIf(STAMP) === wanted) return;
  requireWritable(at('dist'), 'the program must be built');
  rmSync(STAMP, { force: true });
  // What the compiler remembers of outputs that somebody removed would keep it from writing them again.
  if (!isWhole) rmSync(at('dist', '.tsbuildinfo'), { force: true });
  const beganMs = performance.now();
  say('Building …');
  const { code, output } = await run(process.execPath, [TSC, '-p', at('tsconfig.json')], process.env);
  if (code !== 0) throw new SetupFailure(`${output.trimEnd()}\nThe build failed; see the errors above.`);
  removeStale(new Set(sources.map(outputOf)));
  // npm makes it executable only when it links it for the first time.
  chmodSync(PROGRAM, 0o755);
  mkdirSync(at('dist'), { recursive: true });
  writeFileSync(STAMP, wanted);
  say(`Built in ${seconds(beganMs)}.`);
}

function outputOf(source) {
  return at('dist', relative(root, source).replace(/\.tsx?$/, '.js'));
}

/** A test whose source is gone would still run, and pass. */
function removeStale(outputs) {
  for (const file of SOURCE_FOLDERS.flatMap((folder) => filesIn(at('dist', folder)))) {
    if (!outputs.has(file.replace(/\.map$/, ''))) rmSync(file);
  }
}
