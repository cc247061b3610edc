import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { AggregatorRegistry } from 'prom-client';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import type { Log } from '../shared/log.js';

type Snapshot = MetricObjectWithValues<MetricValue<string>>[];
type Message = { readonly type: 'snapshot'; readonly metrics: Snapshot } | { readonly type: 'listening'; readonly port: number };

/** How often a worker tells its figures; a worker killed with -9 loses at most this much of them. */
const SNAPSHOT_MS = 500;
/** A worker that dies younger than this is replaced only after a pause, or a bad set-up would spin. */
const YOUNG_MS = 1000;

/** The worker processes behind one public port, and the sum of their metrics. */
export interface Workers {
  /** Resolves with their port when every worker listens. */
  readonly listening: Promise<number>;
  metrics(own: Registry): Promise<string>;
  /** Asks all to drain; kills what is left after the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

/** Starts `count` workers of this same program and replaces whichever dies. */
export function startWorkers(count: number, log: Log): Workers {
  const latest = new Map<number, Snapshot>();
  /** Counts of the dead: without them a counter would fall when a worker is replaced. */
  const dead: Snapshot[] = [];
  let stopping = false;
  let listeningCount = 0;
  let markListening: (port: number) => void;
  const listening = new Promise<number>((resolve) => (markListening = resolve));

  const start = (): void => {
    const bornMs = performance.now();
    const worker = cluster.fork();
    worker.on('message', (message: Message) => {
      if (message.type === 'snapshot') latest.set(worker.id, message.metrics);
      else if (++listeningCount >= count) markListening(message.port);
    });
    worker.on('exit', (code, signal) => {
      const last = latest.get(worker.id);
      latest.delete(worker.id);
      if (last !== undefined) dead.push(countersOf(last));
      if (stopping) return;
      log.error({ worker: worker.process.pid, code, signal }, 'a worker died and is replaced');
      setTimeout(start, performance.now() - bornMs < YOUNG_MS ? YOUNG_MS : 0);
    });
  };
  for (let index = 0; index < count; index += 1) start();

  return {
    listening,
    metrics: async (own) => {
      if (dead.length > 1) dead.push(await AggregatorRegistry.aggregate(dead.splice(0)).getMetricsAsJSON());
      const snapshots = [await own.getMetricsAsJSON(), ...latest.values(), ...dead];
      return AggregatorRegistry.aggregate(snapshots).metrics();
    },
    stop: async (deadlineMs) => {
      stopping = true;
      const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
      await Promise.all(workers.map((worker) => stopWorker(worker, deadlineMs)));
    },
  };
}

/** The worker's side: tells the primary its figures from time to time, and once more before it goes. */
export function reportToPrimary(registry: Registry): { listening(port: number): void; stop(): Promise<void> } {
  const tell = async (): Promise<void> => {
    const metrics = await registry.getMetricsAsJSON();
    if (process.connected) await new Promise<void>((resolve) => process.send!({ type: 'snapshot', metrics }, () => resolve()));
  };
  const timer = setInterval(() => void tell(), SNAPSHOT_MS).unref();
  return {
    listening: (port) => process.send?.({ type: 'listening', port }),
    stop: async () => {
      clearInterval(timer);
      await tell();
    },
  };
}

function stopWorker(worker: Worker, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => worker.process.kill('SIGKILL'), deadlineMs);
    worker.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    worker.process.kill('SIGTERM');
  });
}

/** What only ever grows; a gauge of a dead worker says nothing. */
function countersOf(snapshot: Snapshot): Snapshot {
  return snapshot.filter((metric) => ['counter', 'histogram'].includes(String(metric.type)));
}
