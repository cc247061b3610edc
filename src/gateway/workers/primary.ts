import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import { Gauge, type Counter, type Registry } from 'prom-client';
import { counterOf } from '../../shared/metrics/gauge.js';
import { WorkerMetrics } from './worker-metrics.js';
import { newest, type Question, type Remembered } from '../observe/recent/memory.js';
import type { Recalled } from '../observe/recent/recall.js';
import { mergeRefused } from '../observe/recent/top-refused.js';
import { Questions } from './questions.js';
import { answerWorker } from './owner.js';
import type { Contract } from '../contract/load.js';
import type { AdmissionEngine } from '../store/port.js';
import type { Log } from '../../shared/log.js';
import { applyCommand, type Configuration, type PrimaryMessage, type WorkerMessage } from './message.js';

const SCRAPE_MS = 250;
const RECALL_MS = 1_000;
/** A worker that dies this early is replaced after a pause, so that an invalid setup does not restart in a loop. */
const YOUNG_MS = 1000;

interface Started {
  /** The contract it was last sent. */
  contract: Contract | null;
  /** Resolves pending acknowledgements, which arrive in order. */
  readonly owed: (() => void)[];
}

/**
 * Starts as many workers as `first` says and replaces those that die. They use the store through `engine`.
 * @param own metrics of this process
 */
export function startWorkers(first: Configuration, engine: AdmissionEngine, own: Registry, log: Log) {
  const count = first.settings.workers;
  // A copy: a reload changes `first`.
  let configuration: Configuration = { ...first };
  const metrics = new WorkerMetrics();
  const asked = new Questions<Remembered>();
  const scraped = new Questions<void>();
  /** Workers that have asked for the configuration, and therefore get changes. */
  const started = new Map<Worker, Started>();
  const restarts = countRestarts(own, metrics);
  let stopping = false;
  let listeningCount = 0;
  let markListening: (port: number) => void;
  const listening = new Promise<number>((resolve) => (markListening = resolve));

  /** Resolves when the worker has applied the configuration, or is gone. */
  const publish = (worker: Worker, its: Started): Promise<void> =>
    new Promise((resolve) => {
      its.owed.push(resolve);
      // A worker that is exiting cannot receive it, and need not.
      worker.send(applyCommand(configuration, its.contract === configuration.contract), () => undefined);
      its.contract = configuration.contract;
    });

  // Settings contain maps, and a certificate contains bytes.
  cluster.setupPrimary({ serialization: 'advanced' });
  const start = (): void => {
    const bornMs = performance.now();
    const worker = cluster.fork();
    const answerStore = answerWorker(engine, (reply) => worker.send(reply, () => undefined));
    worker.on('message', (message: WorkerMessage) => {
      if (message.type === 'store') answerStore(message);
      else if (message.type === 'started') {
        const its: Started = { contract: null, owed: [] };
        started.set(worker, its);
        void publish(worker, its);
      } else if (message.type === 'applied') started.get(worker)?.owed.shift()?.();
      else if (message.type === 'metrics') {
        metrics.update(worker.id, message.metrics);
        if (message.number !== undefined) scraped.answered(message.number, worker.id);
      } else if (message.type === 'remembered') asked.answered(message.number, worker.id, message.remembered);
      else if (message.type === 'ask') void answer(worker, message.number, message.question, asked);
      else if (++listeningCount >= count) markListening(message.port);
    });
    // The last metrics may arrive after the exit, until the channel closes.
    void Promise.all([once(worker, 'exit'), once(worker, 'disconnect')]).then(() => metrics.forget(worker.id));
    worker.on('exit', (code, signal) => {
      for (const resolve of started.get(worker)?.owed ?? []) resolve();
      started.delete(worker);
      for (const each of [asked, scraped]) each.forget(worker.id);
      if (stopping) return;
      restarts.inc();
      log.error({ worker: worker.process.pid, code, signal }, 'a worker died and is replaced');
      setTimeout(start, performance.now() - bornMs < YOUNG_MS ? YOUNG_MS : 0);
    });
  };
  for (let index = 0; index < count; index += 1) start();

  return {
    /** Resolves with the port once all workers listen. */
    listening,
    /** Returns the metrics of this process and all workers, dead or alive. Waits at most `SCRAPE_MS` for new ones. */
    metrics: async () => {
      await askAll(scraped, SCRAPE_MS, (number) => ({ type: 'send_metrics', number }));
      return metrics.text(own);
    },
    /** Asks all workers which exchanges they remember. */
    recall: (question: Question) => recall(asked, question),
    /** Resolves once `next` is in force in all workers. */
    apply: async (next: Configuration) => {
      configuration = next;
      await Promise.all([...started].map(([worker, its]) => publish(worker, its)));
    },
    /** Asks all workers to drain; kills the remaining ones after the deadline. */
    stop: async (deadlineMs: number) => {
      stopping = true;
      await Promise.all(living().map((worker) => stopWorker(worker, deadlineMs)));
    },
  };
}

/** Asks all workers; a worker that does not respond within `withinMs` counts as silent. */
function askAll<Answer>(asked: Questions<Answer>, withinMs: number, question: (number: number) => PrimaryMessage) {
  const workers = living();
  const ids = workers.map(({ id }) => id);
  return asked.ask(ids, withinMs, (number) => {
    for (const worker of workers) worker.send(question(number), () => undefined);
  });
}

async function recall(asked: Questions<Remembered>, question: Question): Promise<Recalled> {
  const { answers, silent } = await askAll(asked, RECALL_MS, (number) => ({ type: 'remember', number, question }));
  const exchanges = newest(answers.flatMap((each) => each.exchanges));
  return { exchanges, refused: mergeRefused(answers.flatMap((each) => each.refused)), silent };
}

/** Sends a worker what all workers remember. */
async function answer(worker: Worker, number: number, question: Question, asked: Questions<Remembered>): Promise<void> {
  const recalled = await recall(asked, question);
  worker.send({ type: 'recalled', number, recalled } satisfies PrimaryMessage, () => undefined);
}

function countRestarts(own: Registry, metrics: WorkerMetrics): Counter {
  new Gauge({
    name: 'petgate_workers',
    help: 'Worker processes: answering, or silent for three seconds or more.',
    labelNames: ['state'],
    registers: [own],
    collect() {
      const answering = living().filter(({ id }) => metrics.isResponsive(id)).length;
      this.set({ state: 'answering' }, answering);
      this.set({ state: 'silent' }, living().length - answering);
    },
  });
  return counterOf(own, 'petgate_worker_restarts_total', 'Workers that died and were replaced.');
}

function living(): readonly Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

async function stopWorker(worker: Worker, deadlineMs: number): Promise<void> {
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), deadlineMs);
  worker.process.kill('SIGTERM');
  await once(worker, 'exit');
  clearTimeout(timer);
}
