import cluster from 'node:cluster';

/** A stop that hangs must not keep a process without its parent. */
const LINGER_MS = 30_000;

/** Runs `stop` at the first SIGTERM or SIGINT, then exits: 0, or 1 when it failed. A second SIGINT exits at once. */
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
 * Calls `stop` once the process that started this one is gone, however it went: the channel between
 * them breaks also on `kill -9`. Does nothing in a process that was started without such a channel,
 * and in a cluster's worker, whose channel is Node's own business.
 */
export function exitWithParent(stop: () => void): void {
  if (process.channel === undefined || cluster.isWorker) return;
  const leave = (): void => {
    setTimeout(() => process.exit(1), LINGER_MS).unref();
    stop();
  };
  process.once('disconnect', leave);
  // Listening would otherwise keep a process alive that is done.
  process.channel.unref();
}
