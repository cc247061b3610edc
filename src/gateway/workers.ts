import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { Certificate } from './config/certificate.js';
import type { Settings } from './config/settings.js';
import type { Contract } from './contract/load.js';
import type { Operation } from './contract/operation.js';
import { buildRoutes } from './contract/routes.js';
import { Figures } from './observe/figures.js';
import type { Snapshot } from './observe/figures.js';
import type { Log } from '../shared/log.js';

/** What a worker says. */
type Report = { readonly type: 'born' } | { readonly type: 'figures'; readonly figures: Snapshot } | { readonly type: 'listening'; readonly port: number };
/** What it is told: to send its figures, or what is in force from now on. */
type Order = { readonly type: 'tell' } | { readonly type: 'in_force' } & Portable;

/** What is in force, as it goes from process to process. */
interface Portable {
  readonly settings: Settings;
  readonly pem: ReturnType<Certificate['pem']> | null;
  readonly operations: readonly Operation[];
  readonly document: string;
}

/** What a process runs by. A worker has it from the primary, never from the files: they may be bad by now, or say what only a new gateway may take over. */
export interface InForce {
  readonly settings: Settings;
  readonly certificate: Certificate | null;
  readonly contract: Contract;
}

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
  /** From now on this is in force, in all of them. A certificate of null leaves the one there is. */
  apply(settings: Settings, certificate: Certificate | null): void;
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
      if (report.type === 'born') command(worker, orderOf(inForce));
      else if (report.type === 'figures') figures.take(worker.id, report.figures);
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
      for (const worker of living()) command(worker, { type: 'tell' });
      await figures.news(living().map(({ id }) => id), SCRAPE_MS);
      return figures.text(own);
    },
    apply: (settings, certificate) => {
      inForce = { ...inForce, settings, certificate: certificate ?? inForce.certificate };
      for (const worker of living()) command(worker, orderOf(inForce));
    },
    stop: async (deadlineMs) => {
      stopping = true;
      await Promise.all(living().map((worker) => stopWorker(worker, deadlineMs)));
    },
  };
}

/** The worker's side: resolves with what is in force. @param onNews told of what is in force later */
export function askPrimary(onNews: (inForce: InForce) => void): Promise<InForce> {
  return new Promise((resolve) => {
    let take: (inForce: InForce) => void = resolve;
    process.on('message', (order: Order) => {
      if (order.type !== 'in_force') return;
      take(unpacked(order));
      take = onNews;
    });
    void send({ type: 'born' });
  });
}

/** Tells the primary its figures when asked and from time to time, and once more before it goes. */
export function reportToPrimary(registry: Registry): { listening(port: number): void; stop(): Promise<void> } {
  const tell = async (): Promise<void> => send({ type: 'figures', figures: await registry.getMetricsAsJSON() });
  process.on('message', (order: Order) => {
    if (order.type === 'tell') void tell();
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

/** To the primary. It may be gone; then nobody is left to tell. */
function send(report: Report): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send!(report, undefined, undefined, () => resolve());
    else resolve();
  });
}

/** A worker that is gone needs no orders. */
function command(worker: Worker, order: Order): void {
  worker.send(order, () => undefined);
}

function orderOf({ settings, certificate, contract }: InForce): Order {
  return { type: 'in_force', settings, pem: certificate?.pem() ?? null, operations: contract.routes.operations, document: contract.document };
}

function unpacked({ settings, pem, operations, document }: Portable): InForce {
  return { settings, certificate: pem === null ? null : new Certificate(Buffer.from(pem.cert), Buffer.from(pem.key)), contract: { routes: buildRoutes(operations), document } };
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
