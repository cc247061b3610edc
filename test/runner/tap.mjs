import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { relative } from 'node:path';

/** Only what hangs takes so long, however busy the machine. */
const FILE_TIMEOUT_S = Number(process.env.TAP_TIMEOUT ?? 600);
/** For a file that was told to end because its time was over. */
const GRACE_MS = 5_000;
/** One more than processors: most files wait for timers of the product half of their time. */
const JOBS = availableParallelism() + 1;
const STDERR_CHARS = 4_000;

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
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const beganMs = performance.now();
      const name = relative('dist', file).replace(/\.js$/, '');
      const counts = await runFile(name, [node, '--enable-source-maps', file], env, new Parser(), tally);
      const failed = counts.failed > 0 ? `, ${counts.failed} failed` : '';
      const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
      console.log(
        `${counts.failed > 0 ? 'FAIL' : 'ok  '} ${name}  ${counts.passed} passed${failed}${skipped}  ` +
          `${((performance.now() - beganMs) / 1000).toFixed(1)} s`,
      );
    }
  };
  await Promise.all(Array.from({ length: JOBS }, work));
}

async function runFile(name, [command, ...args], env, parser, tally) {
  // In a group of its own, so that nothing a test started outlives its time.
  const child = spawn(command, args, {
    env: { ...env, TAP_TIMEOUT: String(FILE_TIMEOUT_S) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => (stderr = (stderr + chunk).slice(-STDERR_CHARS)));
  let timedOut = false;
  const timers = [
    setTimeout(() => {
      timedOut = true;
      child.kill('SIGTERM');
      timers.push(setTimeout(() => killGroup(child), GRACE_MS));
    }, FILE_TIMEOUT_S * 1_000),
  ];
  const counts = follow(parser, [name], tally);
  child.stdout.pipe(parser);
  const [[code, signal]] = await Promise.all([once(child, 'exit'), once(parser, 'complete')]);
  for (const timer of timers) clearTimeout(timer);
  // A test that was told to end may leave behind what it started.
  killGroup(child);
  const fault = (reason) => {
    counts.failed += 1;
    tally.fault(name, stderr.trim() === '' ? reason : `${reason}\n${stderr.trimEnd()}`);
  };
  if (timedOut) fault(`not done after ${FILE_TIMEOUT_S} s`);
  else if (code !== 0 && counts.failed === 0) fault(`ended with ${signal ?? code}, though no assertion failed`);
  else if (counts.passed + counts.failed + counts.skipped === 0) fault('asserts nothing');
  return counts;
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
