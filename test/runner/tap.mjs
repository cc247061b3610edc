import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { relative } from 'node:path';

const FILE_TIMEOUT_S = 180;
const JOBS = 2;

/**
 * Runs built test files under tap and counts into `tally`, a line of progress for each file.
 * `node` is the program to run them with. tap itself is found only now: on a bare clone it was not there before.
 */
export async function runTap(files, tally, { node = process.execPath, env = process.env } = {}) {
  const { resolve } = createRequire(import.meta.url);
  const { Parser } = await import(resolve('tap-parser'));
  const run = resolve('tap').replace(/dist.*$/, 'dist/esm/run.mjs');
  const args = ['run', '--disable-coverage', '--reporter=tap', `--jobs=${JOBS}`, `--timeout=${FILE_TIMEOUT_S}`, ...files];
  const tap = spawn(node, [run, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const parser = new Parser();
  const seen = new Set();
  follow(parser, [], tally, (file, ok, counts, timeMs) => {
    seen.add(file);
    const name = relative('dist', file).replace(/\.js$/, '');
    if (ok && counts.passed + counts.skipped === 0) tally.fault(name, 'the file asserts nothing');
    console.log(`${ok ? 'ok  ' : 'FAIL'} ${name}  ${counts.passed} passed${counts.failed > 0 ? `, ${counts.failed} failed` : ''}  ${(timeMs / 1000).toFixed(1)} s`);
  });
  tap.stdout.pipe(parser);
  const [[code, signal]] = await Promise.all([once(tap, 'close'), once(parser, 'complete')]);
  for (const file of files.filter((file) => !seen.has(file))) tally.fault(file, 'tap told no result of it');
  if (code !== 0 && tally.failed === 0) tally.fault('tap', `ended with ${signal ?? code}, though no assertion failed`);
}

/**
 * Counts the assertions of one level and the levels below. The line that closes a subtest repeats
 * what is inside; it counts only when nothing inside failed: a crash, a timeout, a broken plan.
 */
function follow(parser, place, tally, onFile) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  let inner;
  parser.on('child', (child) => {
    inner = { name: child.name, counts: follow(child, [...place, child.name], tally) };
  });
  parser.on('assert', ({ ok, name, skip, todo, diag, time }) => {
    const closes = inner !== undefined && inner.name === name ? inner.counts : undefined;
    inner = undefined;
    const own = closes ?? { passed: 0, failed: 0, skipped: 0 };
    if (skip || todo) own.skipped += 1;
    else if (!ok && own.failed === 0) {
      own.failed += 1;
      tally.fail([...place, name], diag ?? undefined);
    } else if (closes === undefined && ok) {
      own.passed += 1;
      tally.pass();
    }
    for (const key of Object.keys(counts)) counts[key] += own[key];
    onFile?.(name, ok, own, time ?? diag?.time ?? 0);
  });
  return counts;
}
