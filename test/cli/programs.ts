import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
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

export { temporaryFolder as dataFolder } from '../servers/program.js';

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
export function petgate(args: readonly string[], env: NodeJS.ProcessEnv, input = '', cwd?: string): Promise<Finished> {
  return run([...process.execArgv, PROGRAM, ...args], { env, cwd }, input);
}

/** Runs a script of Node to its end. */
export async function run(args: readonly string[], options: SpawnOptions, input = ''): Promise<Finished> {
  const child = spawn(process.execPath, args, { ...options, stdio: 'pipe' });
  child.stdin.on('error', () => undefined).end(input);
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null, string | null]>,
  ]);
  return { code: code ?? signal ?? 'lost', stdout, stderr };
}
