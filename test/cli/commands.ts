import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import type { Finished } from './programs.js';

interface Ask {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly input: string;
}

let thread: Worker | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs `petgate …` to its end, one at a time, in a thread that has loaded it: for tests of what many commands do. That
 * a command is a process is what `petgate` of programs.ts shows.
 */
export function command(args: readonly string[], env: NodeJS.ProcessEnv, input = ''): Promise<Finished> {
  const turn = last.then(async () => {
    thread ??= new Worker(new URL(import.meta.url));
    thread.ref();
    thread.postMessage({ args, env, input } satisfies Ask);
    const [finished] = (await once(thread, 'message')) as [Finished];
    thread.unref();
    return finished;
  });
  last = turn.catch(() => undefined);
  return turn;
}

/** Collects what is written to a stream of this process. */
function collect(name: 'stdout' | 'stderr'): () => string {
  let text = '';
  const value = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  Object.defineProperty(process, name, { configurable: true, value });
  return () => text;
}

let runs = 0;
if (!isMainThread)
  parentPort?.on('message', ({ args, env, input }: Ask) => {
    Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from([Buffer.from(input)]) });
    const [stdout, stderr] = [collect('stdout'), collect('stderr')];
    process.env = { ...env };
    process.argv = [process.execPath, 'petgate', ...args];
    process.exitCode = 0;
    // Each import with a query runs the file again; what it imports stays loaded.
    void import(`../../src/cli/main.js?run=${(runs += 1)}`).then(() =>
      parentPort?.postMessage({ code: process.exitCode ?? 0, stdout: stdout(), stderr: stderr() }),
    );
  });
