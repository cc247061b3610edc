import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { constants } from 'node:os';
import { ensureProgram, PROGRAM } from './build.mjs';
import { at } from './files.mjs';
import { ensureInstalled } from './install.mjs';
import { onSignals } from './run.mjs';
import { complain, SetupFailure } from './terminal.mjs';

/** An editor writes a file in several steps. */
const SETTLE_MS = 100;

/**
 * Starts `petgate start` on this terminal. If this process is killed, the channel between them breaks, and it stops
 * too.
 */
function spawnStart() {
  return spawn(process.execPath, [PROGRAM, 'start', ...process.argv.slice(3)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
}

export async function start() {
  await ensureInstalled({ developer: false });
  await ensureProgram();
  const child = spawnStart();
  // Ctrl-C also reaches the child directly from the terminal; it treats both signals as one.
  onSignals((signal) => child.kill(signal));
  await new Promise((resolve) =>
    child.on('exit', (code, signal) => {
      process.exitCode = signal === null ? code : 128 + constants.signals[signal];
      if (child.connected) child.disconnect();
      resolve();
    }),
  );
}

/** Builds on each change, and restarts after each build without an error. */
export async function dev() {
  await ensureInstalled({ developer: false });
  let app;
  let leaving = false;
  const restart = () => {
    if (leaving) return;
    if (app === undefined || app.exitCode !== null || app.signalCode !== null) {
      app = spawnStart();
      return;
    }
    // If another build ends while the old program is stopping, start only one new program.
    if (app.listenerCount('exit') === 0) app.once('exit', restart);
    app.kill('SIGTERM');
  };
  const rebuild = () =>
    ensureProgram().then(restart, (error) => {
      if (!(error instanceof SetupFailure)) throw error;
      complain(error.message);
    });
  let building = rebuild();
  let timer;
  const watcher = watch(at('src'), { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(() => (building = building.then(rebuild)), SETTLE_MS);
  });
  onSignals((signal) => {
    leaving = true;
    clearTimeout(timer);
    watcher.close();
    app?.kill(signal);
  });
}
