import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Certificate } from '../config/certificate.js';
import type { Settings } from '../config/settings.js';
import { Figures } from '../observe/figures.js';
import type { Log } from '../../shared/log.js';
import type { InForce, Order, Report } from './message.js';
import { News } from './news.js';

/** How long a scrape waits for figures newer than those. */
const SCRAPE_MS = 250;
/** A worker that dies younger than this is replaced only after a pause, or a bad set-up would spin. */
const YOUNG_MS = 1000;

/** The worker processes behind one public port, and the sum of their metrics. */
interface Workers {
  /** Resolves with their port when every worker listens. */
  readonly listening: Promise<number>;
  /** The figures of this process and of all workers, dead or alive; at most `SCRAPE_MS` later. */
  metrics(): Promise<string>;
  /** Resolves when this is in force in all of them. */
  apply(settings: Settings, certificate: Certificate | null): Promise<void>;
  /** Asks all to drain; kills what is left after the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

/**
 * Starts as many workers of this same program as `first` says, and replaces whichever dies.
 * @param own the metrics of this process
 */
export function startWorkers(first: InForce, own: Registry, log: Log): Workers {
  const count = first.settings.workers;
  let inForce = first;
  const figures = new Figures();
  const news = new News();
  const restarts = countRestarts(own, figures);
  let stopping = false;
  let listeningCount = 0;
  let markListening: (port: number) => void;
  const listening = new Promise<number>((resolve) => (markListening = resolve));

  // Settings hold maps, and a certificate bytes.
  cluster.setupPrimary({ serialization: 'advanced' });
  const start = (): void => {
    const bornMs = performance.now();
    const worker = cluster.fork();
    worker.on('message', (report: Report) => {
      if (report.type === 'born') void news.give(worker, inForce);
      else if (report.type === 'taken_over') news.acknowledge(worker);
      else if (report.type === 'figures') figures.take(worker.id, report.figures);
      else if (++listeningCount >= count) markListening(report.port);
    });
    // Its last figures may come after its exit, until the channel is closed.
    void Promise.all([once(worker, 'exit'), once(worker, 'disconnect')]).then(() => figures.bury(worker.id));
    worker.on('exit', (code, signal) => {
      news.bury(worker);
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
      for (const worker of living()) worker.send({ type: 'tell' } satisfies Order, () => undefined);
      await figures.news(living().map(({ id }) => id), SCRAPE_MS);
      return figures.text(own);
    },
    apply: async (settings, certificate) => {
      inForce = { ...inForce, settings, certificate };
      await Promise.all(living().map((worker) => news.give(worker, inForce)));
    },
    stop: async (deadlineMs) => {
      stopping = true;
      await Promise.all(living().map((worker) => stopWorker(worker, deadlineMs)));
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
