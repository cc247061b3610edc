import { parentPort, workerData } from 'node:worker_threads';
import { ConfigError } from '../config/files/problem.js';
import { loadContract } from './load.js';
import type { Order, Outcome } from './reader.js';

/** Loads one contract for `reader.ts`; then the thread ends. */
function load({ path, settings }: Order): Outcome {
  try {
    const { routes, document, ...loaded } = loadContract(path, settings);
    // In its own buffer, which is transferred without copying.
    return { loaded, operations: routes.operations, document: new Uint8Array(document) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: error.problems, files: error.files };
  }
}

const outcome = load(workerData as Order);
parentPort?.postMessage(outcome, 'document' in outcome ? [outcome.document.buffer as ArrayBuffer] : []);
