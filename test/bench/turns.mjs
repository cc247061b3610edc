/**
 * Imported into a gateway: tells its parent, whenever that sends anything, how long one turn of the event loop took at
 * most since it was asked last, in CPU time of the main thread. The gateway's own metric is time on the clock, in which
 * other programs had the processor too. The first question begins it. Of workers nothing is seen.
 */
import { isPrimary } from 'node:cluster';
import { openSync, readSync } from 'node:fs';

const TICK_MS = 1;

if (isPrimary && process.send !== undefined) {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const bytes = Buffer.alloc(64);
  /** Nanoseconds on a processor stand first. */
  const usedMs = () => parseInt(bytes.latin1Slice(0, readSync(file, bytes, 0, bytes.length, 0)), 10) / 1e6;
  let longestMs = 0;
  let beforeMs = 0;
  const look = () => {
    const nowMs = usedMs();
    longestMs = Math.max(longestMs, nowMs - beforeMs);
    beforeMs = nowMs;
  };
  process.on('message', () => {
    if (beforeMs === 0) setInterval(look, TICK_MS).unref();
    process.send({ longestTurnMs: longestMs });
    beforeMs = usedMs();
    longestMs = 0;
  });
  process.channel.unref();
}
