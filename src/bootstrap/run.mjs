import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { root } from './files.mjs';
import { SetupFailure } from './terminal.mjs';

/**
 * Runs a program quietly in the project's folder. A signal to this process ends both.
 * @param onOutput is called with each piece of output @param signal ends the program when aborted
 */
export function run(command, args, env, { onOutput = () => undefined, signal } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        chunks.push(chunk);
        onOutput(chunk.toString());
      });
    signal?.addEventListener('abort', () => child.kill('SIGKILL'));
    let signalled;
    const unhook = onSignals((received) => {
      signalled = received;
      child.kill(received);
    });
    child.on('error', (error) => {
      unhook();
      reject(new SetupFailure(`${command} could not be started (${error.code}). Is it installed and on PATH?`));
    });
    child.on('close', (code) => {
      unhook();
      if (signalled === undefined) resolve({ code, output: Buffer.concat(chunks).toString() });
      else reject(new SetupFailure('Stopped. The next start does the rest.', 128 + constants.signals[signalled]));
    });
  });
}

export function onSignals(listener) {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}
