import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/shared/package-root.js';
import { until } from './until.js';

const CLI = join(packageRoot, 'dist/program/main.js');

/** A program of ours as a real process, with what it logged. */
export interface Program {
  readonly child: ChildProcess;
  readonly pid: number;
  /** All that came on standard output and error so far. */
  output(): string;
  /** The JSON lines logged so far. */
  lines(): readonly Readonly<Record<string, unknown>>[];
  /** Resolves with the first logged line whose `msg` is this. */
  logged(msg: string): Promise<Readonly<Record<string, unknown>>>;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Runs `petgate <args>` with only the environment given (and PATH). */
export function startProgram(args: readonly string[], environment: Readonly<Record<string, string>>): Program {
  const child = spawn(process.execPath, [...process.execArgv, CLI, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const log = new JsonLines();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      log.add(text);
    });
  }
  let ended = false;
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => {
      ended = true;
      resolve({ code, signal });
    });
  });
  return {
    child,
    pid: child.pid!,
    output: () => output,
    lines: () => log.lines(),
    exited,
    logged: async (msg) => {
      let found: Record<string, unknown> | undefined;
      await until(`the program logged "${msg}"`, () => {
        found = log.lines().find((line) => line['msg'] === msg);
        return found !== undefined || ended;
      });
      if (found === undefined) throw new Error(`the program ended: ${output}`);
      return found;
    },
    stop: async (signal = 'SIGTERM') => {
      if (!ended) child.kill(signal);
      await exited;
    },
  };
}

/** The JSON among lines of text that come in pieces; each is parsed once, however often it is asked for. */
class JsonLines {
  readonly #parsed: Readonly<Record<string, unknown>>[] = [];
  #unread = '';

  add(text: string): void {
    this.#unread += text;
  }

  /** Of all whole lines so far. */
  lines(): readonly Readonly<Record<string, unknown>>[] {
    const end = this.#unread.lastIndexOf('\n') + 1;
    for (const line of this.#unread.slice(0, end).split('\n')) {
      if (line.startsWith('{') && line.endsWith('}')) this.#parsed.push(JSON.parse(line) as Record<string, unknown>);
    }
    this.#unread = this.#unread.slice(end);
    return [...this.#parsed];
  }
}

/** The processes directly under one, oldest first; of a process that is gone, none. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** The part of a tap test that cleans up. */
export interface Teardown {
  teardown(handler: () => unknown): void;
}

/** A folder that goes with the test. */
export function temporaryFolder(t: Teardown): string {
  const folder = mkdtempSync(join(tmpdir(), 'petgate-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
