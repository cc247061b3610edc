// What runs before anything is installed: plain JavaScript, nothing but Node's own modules.
//   node src/bootstrap.mjs start | dev | lint
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  existsSync,
  constants as modes,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const at = (...parts) => join(root, ...parts);
const INSTALL_STAMP = at('node_modules', '.petgate-installed');
const BUILD_STAMP = at('dist', '.petgate-built');
/** What is compiled; as in tsconfig.json. */
const SOURCE_FOLDERS = ['src', 'test', 'grafana'];
/** The command of package.json. */
const PROGRAM = at('dist', 'src', 'cli', 'main.js');
const TSC = at('node_modules', 'typescript', 'bin', 'tsc');
/** What npm may be told by its environment: where to get packages, and how to reach that place. */
const NPM_SETTINGS =
  /^npm_config_(registry|@|\/\/|_auth|proxy|https?[-_]proxy|noproxy|ca$|cafile|strict[-_]ssl|cache$|userconfig|globalconfig)/i;

/** One line on standard error, for things that went wrong with the set-up. */
const complain = (line) => process.stderr.write(`${line}\n`);
const say = (line) => process.stdout.write(`${line}\n`);
const seconds = (sinceMs) => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;

class SetupFailure extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Installs the pinned dependencies unless they are there already. Says so in two lines when it does. */
export async function ensureInstalled() {
  checkNode();
  const wanted = `${sha256([at('package-lock.json')])} node${process.versions.node.split('.')[0]}`;
  if (readIf(INSTALL_STAMP) === wanted) return;
  const folder = at('node_modules');
  if (isInstalled()) {
    // Where it can't be noted down it is found out again at the next start.
    if (writeError(folder) === undefined) writeFileSync(INSTALL_STAMP, wanted);
    return;
  }
  requireWritable(folder, 'the dependencies must be installed');
  rmSync(INSTALL_STAMP, { force: true });
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
      `${output.trimEnd()}\nThe dependencies could not be installed. Is the package registry reachable? Then start again.`,
    );
  writeFileSync(INSTALL_STAMP, wanted);
  say(`Installed in ${seconds(beganMs)}.`);
}

/** Compiles unless `dist` is of these very sources. Says so in two lines when it does. */
export async function ensureBuilt() {
  const sources = SOURCE_FOLDERS.flatMap((folder) => filesIn(at(folder))).filter((file) => file.endsWith('.ts'));
  const wanted = sha256([...sources, at('tsconfig.json'), at('package-lock.json')]);
  const isWhole = sources.every((file) => existsSync(outputOf(file)));
  if (isWhole && readIf(BUILD_STAMP) === wanted) return;
  requireWritable(at('dist'), 'the program must be built');
  rmSync(BUILD_STAMP, { force: true });
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
  writeFileSync(BUILD_STAMP, wanted);
  say(`Built in ${seconds(beganMs)}.`);
}

/** Why this user may not write in `folder`, as Node's code of the error; undefined when they may. */
function writeError(folder) {
  try {
    accessSync(folder, modes.W_OK);
    return undefined;
  } catch ({ code }) {
    return code;
  }
}

/** Throws SetupFailure where what must happen in `folder`, or make it, may not be written. */
function requireWritable(folder, purpose) {
  const there = existsSync(folder) ? folder : root;
  const code = writeError(there);
  if (code !== undefined) {
    throw new SetupFailure(
      `${there} may not be written by this user (${code}), and ${purpose} in it. Run npm start once as a user who may; after that any user who may read it can.`,
    );
  }
}

/** Throws SetupFailure on a Node older than package.json asks for. */
function checkNode() {
  const oldest = JSON.parse(readFileSync(at('package.json'), 'utf8')).engines.node.replace('>=', '');
  const numbers = (version) => version.split('.').map((part) => Number.parseInt(part, 10));
  const [have, want] = [numbers(process.versions.node), numbers(oldest)];
  const differing = have.findIndex((part, index) => part !== want[index]);
  if (differing !== -1 && have[differing] < want[differing]) {
    throw new SetupFailure(
      `Petgate needs Node ${oldest} or newer; this is ${process.versions.node}. Install a newer one from https://nodejs.org.`,
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

/** Runs a program quietly in the project's folder. A signal to this process ends both. */
function run(command, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks = [];
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.stderr.on('data', (chunk) => chunks.push(chunk));
    let signalled;
    const unhook = onSignals((signal) => {
      signalled = signal;
      child.kill(signal);
    });
    child.on('error', (error) => {
      unhook();
      reject(new SetupFailure(`${command} could not be started (${error.code}). Is it installed and on PATH?`));
    });
    child.on('close', (code) => {
      unhook();
      if (signalled === undefined) resolve({ code, output: Buffer.concat(chunks).toString() });
      else reject(new SetupFailure('Stopped. The next start does the rest.', 128 + constants.signals[signalled]));
    });
  });
}

function onSignals(listener) {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}

/** Starts `petgate start` on this terminal. The channel breaks when this process is killed, and it stops too. */
function spawnStart() {
  return spawn(process.execPath, [PROGRAM, 'start', ...process.argv.slice(3)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
}

async function start() {
  await ensureInstalled();
  await ensureBuilt();
  const child = spawnStart();
  // Ctrl-C reaches the child from the terminal too; it takes both for one.
  onSignals((signal) => child.kill(signal));
  await new Promise((resolve) =>
    child.on('exit', (code, signal) => {
      process.exitCode = signal === null ? code : 128 + constants.signals[signal];
      if (child.connected) child.disconnect();
      resolve();
    }),
  );
}

/** Compiles on each change, and starts anew after each compile without an error. */
async function dev() {
  await ensureInstalled();
  const compiler = spawn(process.execPath, [TSC, '-p', at('tsconfig.json'), '--watch', '--preserveWatchOutput'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let app;
  let leaving = false;
  const restart = () => {
    if (leaving) return;
    if (app === undefined || app.exitCode !== null || app.signalCode !== null) {
      app = spawnStart();
      return;
    }
    // One more compile while the old one stops must not start two.
    if (app.listenerCount('exit') === 0) app.once('exit', restart);
    app.kill('SIGTERM');
  };
  compiler.stdout.on('data', (chunk) => {
    process.stdout.write(chunk);
    if (chunk.includes('Found 0 errors')) restart();
  });
  onSignals((signal) => {
    leaving = true;
    compiler.kill('SIGTERM');
    app?.kill(signal);
  });
}

/** Runs every check, also after one failed, and says which did. */
async function lint() {
  await ensureInstalled();
  const checks = [
    ['eslint', [at('node_modules', 'eslint', 'bin', 'eslint.js'), '.']],
    [
      'format',
      [at('node_modules', 'prettier', 'bin', 'prettier.cjs'), '--check', '--log-level', 'warn', '**/*.{ts,js,mjs,cjs}'],
    ],
    ['types', [TSC, '-p', at('tsconfig.json'), '--noEmit', '--incremental', 'false', '--tsBuildInfoFile', 'null']],
    [
      'arrows',
      [
        at('node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs'),
        'src',
        'test',
        '--config',
        at('.dependency-cruiser.cjs'),
      ],
    ],
    ['unused', [at('node_modules', 'knip', 'bin', 'knip.js'), '--no-progress']],
    ['contract', [at('node_modules', '@redocly', 'cli', 'bin', 'cli.js'), 'lint', 'config/openapi.yaml']],
  ];
  let failed = 0;
  for (const [name, args] of checks) {
    const beganMs = performance.now();
    const { code, output } = await run(process.execPath, args, {
      ...process.env,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    });
    if (code !== 0) {
      failed += 1;
      complain(output.trimEnd());
    }
    say(`${code === 0 ? 'ok    ' : 'FAILED'} ${name.padEnd(8)} ${seconds(beganMs)}`);
  }
  if (failed > 0) process.exitCode = 1;
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort();
}

function outputOf(source) {
  return at('dist', relative(root, source).replace(/\.ts$/, '.js'));
}

/** A test whose source is gone would still run, and pass. */
function removeStale(outputs) {
  for (const file of SOURCE_FOLDERS.flatMap((folder) => filesIn(at('dist', folder)))) {
    if (!outputs.has(file.replace(/\.map$/, ''))) rmSync(file);
  }
}

/** Hash over the files' names and contents. */
function sha256(files) {
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  return hash.digest('hex');
}

function readIf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

const COMMANDS = { start, dev, lint };

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const command = Object.hasOwn(COMMANDS, process.argv[2]) ? COMMANDS[process.argv[2]] : undefined;
  if (command === undefined) {
    complain(`Use: node ${relative(process.cwd(), process.argv[1])} ${Object.keys(COMMANDS).join(' | ')}`);
    process.exitCode = 2;
  } else {
    await command().catch((error) => {
      complain(error instanceof SetupFailure ? error.message : error.stack);
      process.exitCode = error.exitCode ?? 1;
    });
  }
}
