import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { ensureBuilt, PROGRAM } from './build.mjs';
import { at, root, TSC } from './files.mjs';
import { ensureInstalled } from './install.mjs';
import { onSignals } from './run.mjs';

/** Starts `petgate start` on this terminal. The channel breaks when this process is killed, and it stops too. */
function spawnStart() {
  return spawn(process.execPath, [PROGRAM, 'start', ...process.argv.slice(3)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
}

export async function start() {
  await ensureInstalled();
  await ensureBuilt();
  const child = spawnStart();
  // Ctrl-C reaches the child from the terminal too; it takes both for one.
  onSignals((signal) => child.kill(signal));
  await new Promise((resolve) =>
    child.on('exit', (code, signal) => {
      process.exitCode = signal === null ? code : 128 + constants.signals[signal];
      if (child.connected) child.disconnect();
      resolve();
    }),
  );
}

/** Compiles on each change, and starts anew after each compile without an error. */
export async function dev() {
  await ensureInstalled();
  const compiler = spawn(process.execPath, [TSC, '-p', at('tsconfig.json'), '--watch', '--preserveWatchOutput'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let app;
  let leaving = false;
  const restart = () => {
    if (leaving) return;
    if (app === undefined || app.exitCode !== null || app.signalCode !== null) {
      app = spawnStart();
      return;
    }
    // One more compile while the old one stops must not start two.
    if (app.listenerCount('exit') === 0) app.once('exit', restart);
    app.kill('SIGTERM');
  };
  compiler.stdout.on('data', (chunk) => {
    process.stdout.write(chunk);
    if (chunk.includes('Found 0 errors')) restart();
  });
  onSignals((signal) => {
    leaving = true;
    compiler.kill('SIGTERM');
    app?.kill(signal);
  });
}
