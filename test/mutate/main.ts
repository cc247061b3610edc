import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/shared/package-root.js';
import { Copy } from './copy.js';
import { mutantsOf, type Mutant } from './mutants.js';
import { EQUIVALENT, TARGETS } from './targets.js';

/** A test may take so many times as long as without a mutant, and this in addition. */
const SLOWER = 4;
const GRACE_MS = 5_000;
const LEAST_KILLED = 0.9;

interface Task {
  readonly module: string;
  readonly text: string;
  readonly mutant: Mutant;
  readonly tests: readonly string[];
}

const REPORT = join(packageRoot, 'dist/mutants.json');
const words = process.argv.slice(2);
const parts = words.filter((word) => !word.startsWith('--'));
/** With `--every=10`: only every tenth mutant, for a first estimate. */
const every = Number(words.find((word) => word.startsWith('--every='))?.slice('--every='.length) ?? 1);
/** With `--again`: only what survived the last time. */
const survived = words.includes('--again') ? new Set(lastSurvivors()) : null;
const isNamed = (module: string): boolean => parts.length === 0 || parts.some((part) => module.includes(part));
const tasks: Task[] = TARGETS.flatMap(({ sources, tests }) =>
  sources.filter(isNamed).flatMap((module) => {
    const text = readFileSync(join(packageRoot, 'dist/src', `${module}.js`), 'utf8');
    return mutantsOf(text).map((mutant) => ({ module, text, mutant, tests }));
  }),
)
  .filter((task) => survived?.has(nameOf(task)) ?? true)
  .filter((_, n) => n % every === 0);

function lastSurvivors(): readonly string[] {
  const rows = JSON.parse(readFileSync(REPORT, 'utf8')) as readonly { module: string; alive: readonly string[] }[];
  return rows.flatMap(({ module, alive }) => alive.map((each) => `${module}:${each}`));
}

function nameOf({ module, text, mutant: { start, about } }: Task): string {
  return `${module}:${text.slice(0, start).split('\n').length}: ${about}`;
}

const copies = Array.from({ length: availableParallelism() }, () => new Copy());
try {
  process.exitCode = await report(await timesOf(copies[0]!));
} finally {
  for (const copy of copies) copy.remove();
}

/** How long each test takes without a mutant. Throws if one fails. */
async function timesOf(copy: Copy): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>();
  for (const test of new Set(tasks.flatMap(({ tests }) => tests))) {
    const beganMs = performance.now();
    if (!(await copy.passes(test, 300_000))) throw new Error(`${test} fails without a mutant`);
    times.set(test, performance.now() - beganMs);
  }
  return times;
}

async function report(times: ReadonlyMap<string, number>): Promise<number> {
  const survivors = new Map<string, string[]>();
  let done = 0;
  const waiting = tasks.values();
  const work = async (copy: Copy): Promise<void> => {
    for (const task of waiting) {
      if (!(await isKilled(copy, task, times))) {
        const name = nameOf(task).slice(task.module.length + 1);
        survivors.set(task.module, [...(survivors.get(task.module) ?? []), name]);
      }
      done += 1;
      if (done % 20 === 0) process.stderr.write(`${done} of ${tasks.length}\n`);
    }
  };
  await Promise.all(copies.map(work));
  return table(survivors);
}

async function isKilled(copy: Copy, { module, text, mutant, tests }: Task, times: ReadonlyMap<string, number>) {
  const mutated = text.slice(0, mutant.start) + mutant.text + text.slice(mutant.end);
  return copy.replacing(module, mutated, async () => {
    for (const test of tests) if (!(await copy.passes(test, times.get(test)! * SLOWER + GRACE_MS))) return true;
    return false;
  });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints what survived. Gives the exit code. */
function table(survivors: ReadonlyMap<string, readonly string[]>): number {
  const modules = [...new Set(tasks.map(({ module }) => module))];
  const rows = modules.map((module) => {
    const all = tasks.filter((task) => task.module === module).length;
    const alive = (survivors.get(module) ?? []).filter((each) => !EQUIVALENT.has(`${module}:${each}`));
    return { module, all, alive };
  });
  for (const { module, all, alive } of rows) {
    say(`${module}  ${all - alive.length} of ${all} killed`);
    for (const each of alive) say(`    ${each}`);
  }
  const [all, alive] = [tasks.length, rows.reduce((sum, row) => sum + row.alive.length, 0)];
  const share = (all - alive) / all;
  say(`${all - alive} of ${all} killed: ${(share * 100).toFixed(1)} %`);
  writeFileSync(REPORT, JSON.stringify(rows, null, 2));
  return share >= LEAST_KILLED ? 0 : 1;
}
