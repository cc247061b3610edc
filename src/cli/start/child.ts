import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from '../terminal/command-error.js';
import { say, styled } from '../terminal/output.js';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** A program that ran this long without a crash is restarted without a pause after the next one. */
const STEADY_MS = 30_000;
const READY_MS = 60_000;
const POLL_MS = 40;
const ASK_MS = 2_000;

/** Keeps one of the two programs running: reports a crash in one line and starts it again. */
export class Child {
  readonly name: string;
  readonly #command: readonly string[];
  readonly #environment: NodeJS.ProcessEnv;
  readonly #readyUrl: URL;
  readonly #stopping = new AbortController();
  #process: ChildProcess | undefined;
  #startedMs = 0;
  #crashes = 0;

  /** @param command arguments for Node, the program's file first */
  constructor(name: string, command: readonly string[], environment: NodeJS.ProcessEnv, readyUrl: URL) {
    this.name = name;
    this.#command = command;
    this.#environment = environment;
    this.#readyUrl = readyUrl;
  }

  /** Resolves when the program is ready; rejects with CommandError if it ends or is stopped first. */
  async start(): Promise<void> {
    const first = this.#spawn();
    const deadlineMs = Date.now() + READY_MS;
    while (!(await answersReady(this.#readyUrl))) {
      if (this.#stopping.signal.aborted) throw new CommandError('Stopped while starting.');
      if (hasEnded(first))
        throw new CommandError(`${this.name} ended while starting (${endOf(first)}). Its output is above.`);
      if (Date.now() > deadlineMs)
        throw new CommandError(
          `${this.name} is not ready after ${READY_MS / 1000} s; ${this.#readyUrl.href} says why.`,
        );
      await delay(POLL_MS);
    }
    if (hasEnded(first))
      throw new CommandError(
        `${this.name} ended while starting (${endOf(first)}), and another program listens at ${this.#readyUrl.origin}.`,
      );
    void this.#watch(first);
  }

  /** Asks the program to end and waits; kills it after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    const current = this.#process;
    if (current === undefined || hasEnded(current)) return;
    const ended = once(current, 'exit');
    current.kill('SIGTERM');
    const timer = setTimeout(() => {
      say(`${this.name} did not stop within ${graceMs / 1000} s and was killed.`);
      current.kill('SIGKILL');
    }, graceMs);
    await ended;
    clearTimeout(timer);
  }

  kill(): void {
    this.#stopping.abort();
    this.#process?.kill('SIGKILL');
  }

  #spawn(): ChildProcess {
    // A process group of its own: Ctrl-C reaches only this process, which then stops both programs in order.
    // The IPC channel closes when this process is killed: then the child ends, too.
    const child = spawn(process.execPath, this.#command, {
      env: this.#environment,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    });
    child.on('error', () => undefined);
    this.#process = child;
    this.#startedMs = Date.now();
    return child;
  }

  async #watch(first: ChildProcess): Promise<void> {
    const { signal } = this.#stopping;
    for (let child = first; ; child = this.#spawn()) {
      if (!hasEnded(child)) await once(child, 'exit');
      if (signal.aborted) return;
      this.#crashes = Date.now() - this.#startedMs > STEADY_MS ? 0 : this.#crashes + 1;
      const pauseMs = this.#crashes === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (this.#crashes - 1), LONGEST_PAUSE_MS);
      say(
        `${styled('yellow', `${this.name} ended by itself`)} (${endOf(child)}); starting it ` +
          `again${pauseMs === 0 ? '' : ` in ${pauseMs / 1000} s`}.`,
      );
      // A stop ends the pause early.
      const isStopped = await delay(pauseMs, false, { signal }).catch(() => true);
      if (isStopped) return;
    }
  }
}

/** Resolves to whether the response to a GET of `url` is 200. */
function answersReady(url: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const req = request(url, { agent: false, timeout: ASK_MS }, (res) => {
      res.resume();
      resolve(res.statusCode === 200);
    });
    req.on('timeout', () => req.destroy());
    req.on('error', () => resolve(false));
    req.end();
  });
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

function endOf(child: ChildProcess): string {
  if (child.pid === undefined) return 'it could not be started';
  return child.signalCode === null ? `exit code ${child.exitCode ?? '?'}` : `signal ${child.signalCode}`;
}
