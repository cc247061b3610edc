import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { isFault } from './files.mjs';
import { Progress } from './progress.mjs';

/** Only what hangs takes so long, however busy the machine. */
const FILE_TIMEOUT_S = Number(process.env.TAP_TIMEOUT ?? 600);
/** For a file that was told to end because its time was over. */
const GRACE_MS = 5_000;
/** At once: files wait for processes and timers of the product half of their time, those of the faults more. */
const jobsFor = (files) => availableParallelism() * (files.every(isFault) ? 3 : 2);
const STDERR_CHARS = 4_000;
const LAST_CHARS = 600;
/** Node's last words when nobody caught an error. */
const FELL = /^Node\.js v\d/m;

/**
 * Runs built test files, some at a time in their order, and counts what tap says in them into `tally`, a line for each.
 * Each is started as a plain program, which is all a compiled tap test needs: tap's own runner would
 * load its loaders into every process that a test starts.
 * @param node the program to run them with
 */
export async function runTap(files, tally, { node = process.execPath, env = process.env } = {}) {
  // Found only now: on a bare clone it was not there when this file was loaded.
  const { Parser } = await import(createRequire(import.meta.url).resolve('tap-parser'));
  const waiting = [...files];
  const nameOf = (file) => relative('dist', file).replace(/\.js$/, '');
  const progress = new Progress(files.map(nameOf));
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const beganMs = performance.now();
      const name = nameOf(file);
      const counts = await runFile(name, [node, file], env, new Parser(), tally);
      const failed = counts.failed > 0 ? `, ${counts.failed} failed` : '';
      const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
      const seconds = (performance.now() - beganMs) / 1000;
      console.log(
        `${counts.failed > 0 ? 'FAIL' : 'ok  '} ${name}  ${counts.passed} passed${failed}${skipped}  ` +
          `${seconds.toFixed(1)} s  (${progress.done(name, seconds)})`,
      );
      if (counts.failed > 0) tally.printFile(name);
    }
  };
  await Promise.all(Array.from({ length: jobsFor(files) }, work));
  progress.end();
}

async function runFile(name, [node, file], env, parser, tally) {
  const report = `petgate-test-${process.pid}-${name.replaceAll('/', '-')}.json`;
  const flags = ['--report-on-signal', `--report-directory=${tmpdir()}`];
  // In a group of its own, so that nothing a test started outlives its time.
  const child = spawn(node, [...flags, `--report-filename=${report}`, file], {
    env: { ...env, TAP_TIMEOUT: String(FILE_TIMEOUT_S) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => (stderr = (stderr + chunk).slice(-STDERR_CHARS)));
  let said = '';
  child.stdout.on('data', (chunk) => (said = (said + chunk).slice(-LAST_CHARS)));
  let timedOut = false;
  let threads = '';
  const timers = [
    setTimeout(() => {
      timedOut = true;
      threads = threadsOf(child.pid);
      child.kill('SIGUSR2');
      timers.push(setTimeout(() => child.kill('SIGTERM'), GRACE_MS));
      timers.push(setTimeout(() => killGroup(child), 2 * GRACE_MS));
    }, FILE_TIMEOUT_S * 1_000),
  ];
  const counts = follow(parser, [name], tally);
  child.stdout.pipe(parser);
  let leftOver = false;
  child.once('exit', () => {
    // Only what it started can hold its output now.
    const lives = () => ((leftOver = true), killGroup(child));
    timers.push(setTimeout(lives, GRACE_MS));
  });
  const [[code, signal]] = await Promise.all([once(child, 'exit'), once(parser, 'complete')]);
  for (const timer of timers) clearTimeout(timer);
  // A test that was told to end may leave behind what it started.
  killGroup(child);
  const fault = (reason) => {
    counts.failed += 1;
    tally.fault(name, stderr.trim() === '' ? reason : `${reason}\n${stderr.trimEnd()}`);
  };
  if (timedOut) {
    const waitedFor = handlesIn(join(tmpdir(), report)) ?? `what it does not say; its threads: ${threads}`;
    fault(`not done after ${FILE_TIMEOUT_S} s; it waited for ${waitedFor}\nIt said last: ${said}`);
  } else if (leftOver) fault('ended, and what it had started went on');
  else if (FELL.test(stderr)) fault('ended by an error that nobody caught');
  else if (code !== 0 && counts.failed === 0) fault(`ended with ${signal ?? code}, though no assertion failed`);
  else if (counts.passed + counts.failed + counts.skipped === 0) fault('asserts nothing');
  return counts;
}

/** What each thread of a process is waiting for in the kernel: one that is blocked writes no report. */
function threadsOf(pid) {
  try {
    const folder = `/proc/${pid}/task`;
    const read = (thread, name) => readFileSync(join(folder, thread, name), 'utf8').trim();
    return readdirSync(folder)
      .map((thread) => `${read(thread, 'comm')} ${read(thread, 'wchan')}`)
      .join(', ');
  } catch (error) {
    return error.message;
  }
}

/** What keeps a process from its end, from Node's report about it; undefined where it wrote none. */
function handlesIn(report) {
  try {
    const { libuv } = JSON.parse(readFileSync(report, 'utf8'));
    rmSync(report);
    const end = (endpoint) => (endpoint ? ` ${endpoint.ip4}:${endpoint.port}` : '');
    return libuv
      .filter(({ is_active, is_referenced, type }) => is_active && is_referenced && type !== 'loop')
      .map(
        ({ type, pid = '', localEndpoint, remoteEndpoint }) =>
          `${type} ${pid}${end(localEndpoint)}${end(remoteEndpoint)}`,
      )
      .join(', ');
  } catch {
    return undefined;
  }
}

function killGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nobody is left.
  }
}

/**
 * Counts the assertions of one level and the levels below. The line that closes a subtest repeats
 * what is inside; it counts only when nothing inside failed: a timeout, a thrown error, a broken plan.
 */
function follow(parser, place, tally) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  let inner;
  parser.on('child', (child) => {
    inner = { name: child.name, counts: follow(child, [...place, child.name], tally) };
  });
  parser.on('assert', ({ ok, name, skip, todo, diag }) => {
    const closed = inner?.name === name ? inner.counts : undefined;
    inner = undefined;
    for (const key of Object.keys(counts)) counts[key] += closed?.[key] ?? 0;
    if (skip || todo) counts.skipped += 1;
    else if (!ok && !(closed?.failed > 0)) {
      counts.failed += 1;
      tally.fail([...place, name], diag ?? undefined);
    } else if (ok && closed === undefined) {
      counts.passed += 1;
      tally.pass();
    }
  });
  return counts;
}
