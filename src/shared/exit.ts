import cluster from 'node:cluster';

/** How long `stop` may take once the parent is gone; then the process exits anyway. */
const LINGER_MS = 30_000;

/**
 * Runs `stop` on the first SIGTERM or SIGINT, then exits with 0, or 1 if it failed. A second SIGINT exits immediately.
 */
export function onStopSignal(stop: () => Promise<void>): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping && signal === 'SIGINT') process.exit(130);
    if (stopping) return;
    stopping = true;
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/**
 * Calls `stop` when the parent process is gone, even after `kill -9`, which also breaks the channel between them. Does
 * nothing in a process that was started without such a channel, or in a cluster worker, whose channel belongs to Node.
 */
export function exitWithParent(stop: () => void): void {
  if (process.channel === undefined || cluster.isWorker) return;
  const leave = (): void => {
    setTimeout(() => process.exit(1), LINGER_MS).unref();
    stop();
  };
  process.once('disconnect', leave);
  // Otherwise the listener would keep a finished process alive.
  process.channel.unref();
}
