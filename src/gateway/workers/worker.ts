import type { Registry } from 'prom-client';
import type { RecentExchanges } from '../observe/recent/memory.js';
import type { Recall, Recalled } from '../observe/recent/recall.js';
import type { Settings } from '../config/schema/gateway.js';
import type { ServingEngine } from '../store/port.js';
import { Questions } from './questions.js';
import { storeOfOwner } from './owner-store.js';
import { deserialize, type Configuration, type PrimaryMessage, type WorkerMessage } from './message.js';
import { repeat } from '../../shared/turns/repeat.js';

/** Interval at which a worker sends its metrics: `kill -9` loses at most this much. */
const METRICS_MS = 500;
/** How long the primary may take to ask all workers. */
const RECALL_MS = 2_000;
const PRIMARY = 0;

/** Resolves with the first configuration. Later ones go to `apply`, which resolves once they are applied. */
export function askPrimary(apply: (configuration: Configuration) => Promise<void>): Promise<Configuration> {
  return new Promise((resolve) => {
    let next: (configuration: Configuration) => Promise<void> | void = resolve;
    let configuration: Configuration | null = null;
    process.on('message', (message: PrimaryMessage) => {
      if (message.type !== 'apply') return;
      configuration = deserialize(message, configuration);
      const applied = next(configuration);
      next = apply;
      void Promise.resolve(applied).then(() => send({ type: 'applied' }));
    });
    void send({ type: 'started' });
  });
}

/** Sends metrics to the primary at an interval, on request, and when `stop` is called. */
export function reportToPrimary(registry: Registry): { listening(port: number): void; stop(): Promise<void> } {
  const sendMetrics = async (asked: { readonly number?: number } = {}): Promise<void> =>
    send({ type: 'metrics', ...asked, metrics: await registry.getMetricsAsJSON() });
  process.on('message', (message: PrimaryMessage) => {
    if (message.type === 'send_metrics') void sendMetrics({ number: message.number });
  });
  const stopSending = repeat(
    METRICS_MS,
    () => sendMetrics(),
    () => undefined,
  );
  return {
    listening: (port) => void send({ type: 'listening', port }),
    stop: async () => {
      await stopSending();
      await sendMetrics();
    },
  };
}

/** Answers the primary's questions from `recent`. Returns a function that asks all workers. */
export function recallThroughPrimary(recent: RecentExchanges): Recall {
  const asked = new Questions<Recalled>();
  process.on('message', (message: PrimaryMessage) => {
    if (message.type === 'recalled') asked.answered(message.number, PRIMARY, message.recalled);
    if (message.type !== 'remember') return;
    const { number, question } = message;
    void send({ type: 'remembered', number, remembered: recent.answer(question) });
  });
  return async (question) => {
    const { answers } = await asked.ask([PRIMARY], RECALL_MS, (number) => void send({ type: 'ask', number, question }));
    return answers[0] ?? { exchanges: [], refused: [], silent: 1 };
  };
}

/** Returns the store that the primary owns. */
export function storeOfPrimary({ store }: Settings): ServingEngine {
  const { engine, answered } = storeOfOwner(
    store.redis === undefined ? 'embedded' : 'redis',
    (call) => void send(call),
  );
  process.on('message', (message: PrimaryMessage) => {
    if (message.type === 'stored' || message.type === 'failed' || message.type === 'late') answered(message);
  });
  return engine;
}

function send(message: WorkerMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send!(message, undefined, undefined, () => resolve());
    else resolve();
  });
}
