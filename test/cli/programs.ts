import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';

const PROGRAM = join(packageRoot, 'dist/program/main.js');

/** A program at work, with all it has said so far. */
export interface Running {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Its exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>;
}

export interface Finished {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Nothing of the developer's own surroundings, and ports that are free. */
export function surroundings(folder: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: folder,
    PETGATE_DATA: folder,
    PORT: '0',
    ADMIN_PORT: '0',
    PETS_PORT: '0',
    ...more,
  };
}

export function dataFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'petgate-cli-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts `petgate …`; whatever is left of it when the test ends is killed. */
export function begin(
  t: Test,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd?: string,
  program = PROGRAM,
): Running {
  const child = spawn(process.execPath, [...process.execArgv, program, ...args], {
    env,
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, output: () => output, ended };
}

/** Runs `petgate …` to its end. */
export async function petgate(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  input = '',
  cwd?: string,
): Promise<Finished> {
  const child = spawn(process.execPath, [...process.execArgv, PROGRAM, ...args], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on('error', () => undefined).end(input);
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { code: code ?? signal ?? 'lost', stdout, stderr };
}

/** Asks `probe` until it gives something; fails the test after `withinMs`. */
export async function eventually<T>(what: string, probe: () => T | undefined | false, withinMs = 120_000): Promise<T> {
  const deadlineMs = Date.now() + withinMs;
  for (;;) {
    const found = probe();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadlineMs) throw new Error(`${what}: not within ${withinMs} ms`);
    await delay(20);
  }
}
