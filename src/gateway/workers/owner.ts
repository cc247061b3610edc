import { StoreUnavailable, type AdmissionRequest, type Late } from '../admission/port.js';
import type { Verdict } from '../admission/verdict.js';
import type { AdmissionEngine, ServingEngine } from '../store/port.js';

/** A worker's call to the process that owns the store. */
export type StoreCall = { readonly type: 'store'; readonly number: number } & (
  | { readonly part: 'admit'; readonly requests: string }
  | {
      readonly part: StorePart | 'engine' | 'rows';
      readonly method: string;
      readonly args: readonly unknown[];
    }
);
/** The parts of an engine that workers use. */
export type StorePart = 'keys' | 'customers' | 'sessionSecret';

export type StoreReply =
  | { readonly type: 'stored'; readonly number: number; readonly result: unknown }
  | { readonly type: 'failed'; readonly number: number; readonly error: SentError }
  /** Outcomes of abandoned requests, by index. */
  | { readonly type: 'late'; readonly number: number; readonly late: readonly (Late | null)[] };

/** An error of the store, as data. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly details?: Pick<StoreUnavailable, 'notSent' | 'accepted' | 'noEffect'> & {
    readonly decided: readonly (Verdict | null)[];
    /** Indexes for which `late` will follow. */
    readonly late: readonly number[];
  };
}

type Method = (...args: readonly unknown[]) => unknown;

/** Serves one worker's calls; `send` sends it a reply. */
export function answerWorker(engine: AdmissionEngine, send: (reply: StoreReply) => void): (call: StoreCall) => void {
  const readers = new Map<unknown, AsyncIterator<unknown>>();
  const usage = engine.failover?.ownUsage ?? engine.usage;
  const run = async (call: StoreCall): Promise<unknown> => {
    if (call.part === 'admit')
      return JSON.stringify(await engine.admit(JSON.parse(call.requests) as readonly AdmissionRequest[]));
    const { part, method, args } = call;
    if (part === 'rows') return readOn(readers, usage, method, args);
    const of = part === 'engine' ? engine : engine[part];
    return (of as unknown as Readonly<Record<string, Method>>)[method]!.apply(of, [...args]);
  };
  return (call) => {
    const { number } = call;
    run(call).then(
      (result) => send({ type: 'stored', number, result }),
      (error: unknown) => {
        send({ type: 'failed', number, error: sent(error) });
        if (!(error instanceof StoreUnavailable) || error.late.every((late) => late === undefined)) return;
        void Promise.all(Array.from(error.late, async (late) => (await late) ?? null)).then((late) =>
          send({ type: 'late', number, late }),
        );
      },
    );
  };
}

/** Opens or closes a reader of ledger rows, or returns its next rows; null after the last. */
async function readOn(
  readers: Map<unknown, AsyncIterator<unknown>>,
  usage: ServingEngine['usage'],
  method: string,
  [reader, ...range]: readonly unknown[],
): Promise<unknown> {
  if (method === 'open')
    readers.set(reader, usage.rows(...(range as Parameters<typeof usage.rows>))[Symbol.asyncIterator]());
  if (method === 'close') {
    await readers.get(reader)?.return?.();
    readers.delete(reader);
    return null;
  }
  const next = await readers.get(reader)!.next();
  if (next.done !== true) return next.value;
  readers.delete(reader);
  return null;
}

function sent(error: unknown): SentError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message } = error;
  if (!(error instanceof StoreUnavailable)) return { name, message };
  const { notSent, accepted, noEffect, decided, late } = error;
  const awaited = [...late.keys()].filter((index) => late[index] !== undefined);
  const details = { notSent, accepted, noEffect, decided: Array.from(decided, (one) => one ?? null), late: awaited };
  return { name, message, details };
}
