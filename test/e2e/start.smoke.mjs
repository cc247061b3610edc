/**
 * What a new user does, as they do it: clone, `npm start`, paste the printed curl line, Ctrl-C, start again.
 *   node test/e2e/start.smoke.mjs [repository]
 * Takes the last commit, not the working tree. Runs on the Node that runs it. Last line: `N passed, N failed`.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Tally } from '../runner/tally.mjs';

const repository = process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url));
const FIRST_START_MS = 300_000;
const NEXT_START_MS = 120_000;
const STOP_MS = 60_000;

const run = promisify(execFile);
const tally = new Tally();
const folder = mkdtempSync(join(tmpdir(), 'petgate-start-'));
const clone = join(folder, 'petgate');
const started = new Set();

function check(ok, promise, found) {
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${promise}`);
  if (ok) tally.pass();
  else tally.fail(['npm start', promise], { found, wanted: undefined });
}

async function freePort() {
  for (;;) {
    // Below those that the system gives to whoever asks for any.
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (isFree) return String(port);
  }
}

/** `npm start` in a group of its own, so that a signal to the group is what Ctrl-C is in a terminal. */
function start(env) {
  // This very Node has to be the one that npm finds.
  const path = `${dirname(process.execPath)}:${process.env.PATH}`;
  const child = spawn('npm', ['start'], {
    cwd: clone,
    env: { ...env, PATH: path },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.add(child);
  const app = { child, output: '', beganMs: performance.now() };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => (app.output += chunk));
  return app;
}

async function until(what, withinMs, condition) {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > endMs) throw new Error(`waited ${withinMs / 1000} s in vain for ${what}`);
    await later(50);
  }
}

const hasEnded = ({ child }) => child.exitCode !== null || child.signalCode !== null;

/** The line with curl that the output has, once it is whole; throws when the program ended before. */
function curlLine(app) {
  const line = app.output
    .split('\n')
    .slice(0, -1)
    .find((text) => /^\s*(\$ )?curl /.test(text));
  if (line === undefined && hasEnded(app)) throw new Error(`npm start ended: ${app.output}`);
  return line?.trim();
}

async function stop(app) {
  process.kill(-app.child.pid, 'SIGINT');
  await until('npm start to end after SIGINT', STOP_MS, () => hasEnded(app));
}

/** Processes that run something of the clone. */
function processesLeft() {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
    } catch {
      return false;
    }
  });
}

async function smoke() {
  await run('git', ['clone', '--quiet', repository, clone]);
  // What npm hands down belongs to the run around this one; where packages come from does not.
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(PETGATE_|REDIS_URL|DATABASE_URL|STORE_URL|PETS_URL|NODE_ENV|npm_(?!config_))/.test(name),
  );
  const env = {
    ...Object.fromEntries(inherited),
    PORT: await freePort(),
    ADMIN_PORT: await freePort(),
    PETS_PORT: await freePort(),
  };

  const first = start(env);
  const command = await until('a line with curl', FIRST_START_MS, () => curlLine(first));
  console.log(`first start: ${((performance.now() - first.beganMs) / 1000).toFixed(1)} s`);
  const { stdout } = await run('sh', ['-c', command]);
  check(/^HTTP\/1\.1 200 /m.test(stdout), 'the printed line answers 200', stdout);
  for (const name of ['X-RateLimit-Limit: 60', 'X-RateLimit-Remaining: 59', 'X-RateLimit-Reset: \\d+']) {
    check(new RegExp(`^${name}\\r?$`, 'im').test(stdout), `with ${name.split(':')[0]}`, stdout);
  }
  await stop(first);
  check(
    first.child.exitCode === 0 || first.child.exitCode === 130 || first.child.signalCode === 'SIGINT',
    'Ctrl-C ends it cleanly',
    first.output,
  );
  check(processesLeft().length === 0, 'and leaves no process', processesLeft());

  const second = start(env);
  await until('the second start to be ready', NEXT_START_MS, () => {
    if (hasEnded(second)) throw new Error(`npm start ended: ${second.output}`);
    return second.output.includes('Ctrl-C stops.');
  });
  const again = await run('sh', ['-c', command]);
  console.log(`second start: ${((performance.now() - second.beganMs) / 1000).toFixed(1)} s`);
  check(
    /^HTTP\/1\.1 200 /m.test(again.stdout),
    'after the next start the same line answers 200: the key was kept',
    again.stdout,
  );
  check(!/Installing/i.test(second.output), 'and nothing was installed again', second.output);
  await run('git', ['-C', clone, 'status', '--porcelain']).then(({ stdout }) =>
    check(stdout === '', 'the clone is as it was', stdout),
  );
  await stop(second);
  check(processesLeft().length === 0, 'no process is left', processesLeft());
}

await smoke().catch((error) => tally.fault('npm start', error.message));
for (const child of started) {
  if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
}
for (const pid of processesLeft()) process.kill(Number(pid), 'SIGKILL');
rmSync(folder, { recursive: true, force: true });
tally.print();
process.exitCode = tally.failed === 0 ? 0 : 1;
