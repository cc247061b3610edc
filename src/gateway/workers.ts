import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { Figures } from './observe/figures.js';
import type { Snapshot } from './observe/figures.js';
import type { Log } from '../shared/log.js';

type Report = { readonly type: 'figures'; readonly figures: Snapshot } | { readonly type: 'listening'; readonly port: number };
/** Asks a worker for its figures. */
const TELL = 'tell';

/** How often a worker tells its figures unasked; one killed with -9 takes at most this much of them along. */
const TELL_MS = 500;
/** How long a scrape waits for figures newer than those. */
const SCRAPE_MS = 250;
/** A worker that dies younger than this is replaced only after a pause, or a bad set-up would spin. */
const YOUNG_MS = 1000;

/** The worker processes behind one public port, and the sum of their metrics. */
export interface Workers {
  /** Resolves with their port when every worker listens. */
  readonly listening: Promise<number>;
  /** The figures of this process and of all workers, dead or alive; at most `SCRAPE_MS` later. */
  metrics(): Promise<string>;
  /** Tells all to read their settings again. */
  reload(): void;
  /** Asks all to drain; kills what is left after the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

/**
 * Starts `count` workers of this same program and replaces whichever dies.
 * @param own the metrics of this process
 */
export function startWorkers(count: number, own: Registry, log: Log): Workers {
  const figures = new Figures();
  const restarts = countRestarts(own, figures);
  let stopping = false;
  let listeningCount = 0;
  let markListening: (port: number) => void;
  const listening = new Promise<number>((resolve) => (markListening = resolve));

  const start = (): void => {
    const bornMs = performance.now();
    const worker = cluster.fork();
    worker.on('message', (report: Report) => {
      if (report.type === 'figures') figures.take(worker.id, report.figures);
      else if (++listeningCount >= count) markListening(report.port);
    });
    // Its last figures may come after its exit, until the channel is closed.
    void Promise.all([once(worker, 'exit'), once(worker, 'disconnect')]).then(() => figures.bury(worker.id));
    worker.on('exit', (code, signal) => {
      if (stopping) return;
      restarts.inc();
      log.error({ worker: worker.process.pid, code, signal }, 'a worker died and is replaced');
      setTimeout(start, performance.now() - bornMs < YOUNG_MS ? YOUNG_MS : 0);
    });
  };
  for (let index = 0; index < count; index += 1) start();

  return {
    listening,
    metrics: async () => {
      for (const worker of living()) worker.send(TELL, () => undefined);
      await figures.news(living().map(({ id }) => id), SCRAPE_MS);
      return figures.text(own);
    },
    reload: () => {
      for (const worker of living()) worker.process.kill('SIGHUP');
    },
    stop: async (deadlineMs) => {
      stopping = true;
      await Promise.all(living().map((worker) => stopWorker(worker, deadlineMs)));
    },
  };
}

/** The worker's side: tells the primary its figures when asked and from time to time, and once more before it goes. */
export function reportToPrimary(registry: Registry): { listening(port: number): void; stop(): Promise<void> } {
  const send = (report: Report): Promise<void> =>
    new Promise((resolve) => {
      // The primary may be gone; then nobody is left to tell.
      if (process.connected) process.send!(report, undefined, undefined, () => resolve());
      else resolve();
    });
  const tell = async (): Promise<void> => send({ type: 'figures', figures: await registry.getMetricsAsJSON() });
  process.on('message', (message) => {
    if (message === TELL) void tell();
  });
  const timer = setInterval(() => void tell(), TELL_MS).unref();
  return {
    listening: (port) => void send({ type: 'listening', port }),
    stop: async () => {
      clearInterval(timer);
      await tell();
    },
  };
}

function countRestarts(own: Registry, figures: Figures): Counter {
  const registers = [own];
  new Gauge({
    name: 'petgate_workers', help: 'Worker processes: answering, or silent for three seconds and more.', labelNames: ['state'], registers,
    collect() {
      const answering = living().filter(({ id }) => figures.isHeard(id)).length;
      this.set({ state: 'answering' }, answering);
      this.set({ state: 'silent' }, living().length - answering);
    },
  });
  return new Counter({ name: 'petgate_worker_restarts_total', help: 'Workers that died and were replaced.', registers });
}

function living(): readonly Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
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
