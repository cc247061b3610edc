import cluster from 'node:cluster';

/** A stop that hangs must not keep a process without its parent. */
const LINGER_MS = 30_000;

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
