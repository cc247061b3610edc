import { Worker } from 'node:worker_threads';
import { ConfigError, fileProblem, type Problem } from '../config/files/problem.js';
import { changedMs, stampOf } from '../config/files/content.js';
import { loadContract, type ContractSettings, type LoadedContract } from './load.js';
import type { Operation } from './operation/operation.js';
import { buildRoutes } from './path/routes.js';

type Settings = ContractSettings & { readonly contract: string | null };
/** The input of a thread: which contract to load. */
export interface Order {
  readonly path: string | null;
  readonly settings: ContractSettings;
}
/** Its result: everything but the routes, which are functions and cannot be sent; or the problems. */
export type Outcome =
  | {
      readonly loaded: Omit<LoadedContract, 'routes' | 'document'>;
      readonly operations: readonly Operation[];
      readonly document: Uint8Array;
    }
  | { readonly problems: readonly Problem[]; readonly files: readonly string[] };

/** Returns a reader of the settings' contract. It loads again only if the files or the settings have changed. */
export function createContractReader() {
  let last: { readonly known: string; readonly contract: LoadedContract } | undefined;
  // Taken before reading, so that a change during the read is noticed next time.
  const knownOf = (order: Order): { readonly known: string; readonly files: readonly string[] } => {
    const { path, settings } = order;
    const files = last?.contract.files ?? [...(path === null ? [] : [path]), ...(settings.overlays ?? [])];
    return { known: JSON.stringify([order, files.map((file) => [file, stampOf(file)])]), files };
  };
  const keep = ({ known, files }: ReturnType<typeof knownOf>, contract: LoadedContract): LoadedContract => {
    const isWhole = contract.files.join('\n') === files.join('\n');
    last = { known: isWhole ? known : '', contract };
    return contract;
  };
  return {
    /** Loads on the event loop: no requests are served yet. */
    first(settings: Settings): LoadedContract {
      const order = orderOf(settings);
      return keep(knownOf(order), loadContract(order.path, order.settings));
    },
    /** Loads in a thread, so that requests do not wait for it. */
    async next(settings: Settings): Promise<LoadedContract> {
      const order = orderOf(settings);
      const before = knownOf(order);
      return last?.known === before.known ? last.contract : keep(before, await loadApart(order));
    },
  };
}

function orderOf(settings: Settings): Order {
  const {
    contract: path,
    overlays,
    base_path,
    own_paths,
    account,
    credentials,
    similar_paths,
    upstreams = {},
  } = settings;
  const deadlines = Object.entries(upstreams).map(([name, { deadline }]) => [name, { deadline }]);
  const plain = { overlays, base_path, own_paths, account, credentials, similar_paths };
  const order = { path, settings: { ...plain, upstreams: Object.fromEntries(deadlines) as object } };
  return JSON.parse(JSON.stringify(order)) as Order;
}

async function loadApart(order: Order): Promise<LoadedContract> {
  const outcome = await run(order);
  if ('problems' in outcome) throw new ConfigError(outcome.problems, outcome.files);
  const { loaded, operations, document } = outcome;
  const { buffer, byteOffset, byteLength } = document;
  const routes = buildRoutes(operations, loaded.pathRules);
  return { ...loaded, routes, document: Buffer.from(buffer, byteOffset, byteLength) };
}

function run(order: Order): Promise<Outcome> {
  return new Promise((resolve) => {
    const thread = new Worker(new URL('./reader-thread.js', import.meta.url), { workerData: order });
    const fail = (why: string): void => {
      const problem = fileProblem(order.path ?? 'contract', `can't be read: ${why}`);
      resolve({ problems: [problem], files: order.path === null ? [] : [order.path] });
    };
    thread.on('message', resolve);
    // Mostly because it needs more memory than a thread may use.
    thread.on('error', (error) => fail(error.message));
    thread.on('exit', () => fail('the thread that read it ended'));
  });
}

/** A document with fewer operations or scopes this soon after a file changed may be incomplete. */
const WRITING_MS = 1_000;

/**
 * Returns how long to wait before trusting this contract, in ms; 0: no wait. A file that is written in place is
 * incomplete for a moment, and half a YAML document is still valid: with fewer operations, or fewer scopes.
 */
export function unsettledMs(next: LoadedContract, inForce: LoadedContract): number {
  const counts = ({ routes: { operations } }: LoadedContract): readonly [number, number] => [
    operations.length,
    operations.filter(({ scope }) => scope !== null).length,
  ];
  const [[operations, scopes], [before, scopesBefore]] = [counts(next), counts(inForce)];
  if (operations >= before && scopes >= scopesBefore) return 0;
  return Math.max(0, ...next.files.map((file) => changedMs(file) + WRITING_MS - Date.now()));
}
