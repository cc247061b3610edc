import { StoreUnavailable, type Late } from '../admission/port.js';
import type { Verdict } from '../admission/verdict.js';
import type { ServingEngine } from '../store/port.js';
import { ChangeUncertain, VersionConflict } from '../store/records/conflicts.js';
import type { UsageRow } from '../store/records/counts.js';
import type { SentError, StoreCall, StorePart, StoreReply } from './owner.js';

/** Deadline of an admission: the client's response must be sent within a second. */
const ADMIT_MS = 900;
/** Deadline of any other call. */
const CALL_MS = 5_000;
/** A timer this late means that this process was suspended: replies that arrived meanwhile must be read first. */
const LATE_MS = 50;
const GRACE_MS = 100;
/** Maximum number of open calls, including those that timed out, so that a hanging owner is not flooded. */
const MAX_OPEN = 1_000;
const SILENT = 'The process that owns the store does not respond';

type Question = StoreCall extends infer Call ? (Call extends unknown ? Omit<Call, 'type' | 'number'> : never) : never;

interface Open {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Open calls to the process that owns the store, by number. */
class Calls {
  readonly #send: (call: StoreCall) => void;
  readonly #open = new Map<number, Open>();
  readonly #late = new Map<number, (late: readonly (Late | null)[]) => void>();
  #number = 0;

  constructor(send: (call: StoreCall) => void) {
    this.#send = send;
  }

  /** Rejects with StoreUnavailable after `withinMs`. Its `late`, one for each of `size`, resolve when a reply comes. */
  ask(asked: Question, withinMs: number, size = 0): Promise<unknown> {
    if (this.#open.size >= MAX_OPEN) return Promise.reject(new StoreUnavailable(SILENT, { noEffect: true }));
    const number = (this.#number += 1);
    const answer = new Promise((resolve, reject) => this.#open.set(number, { resolve, reject }));
    const stop = awake(withinMs, () => this.#giveUp(number, size));
    this.#send({ type: 'store', number, ...asked });
    return answer.finally(stop);
  }

  answered(reply: StoreReply): void {
    const { number } = reply;
    if (reply.type === 'late') {
      this.#late.get(number)?.(reply.late);
      this.#late.delete(number);
      return;
    }
    const open = this.#open.get(number);
    this.#open.delete(number);
    if (reply.type === 'stored') open?.resolve(reply.result);
    else open?.reject(this.#received(number, reply.error));
  }

  #giveUp(number: number, size: number): void {
    const { reject } = this.#open.get(number)!;
    const verdicts = new Promise<readonly Late[]>((resolve) => {
      this.#open.set(number, {
        resolve: (result) => resolve(size === 0 ? [] : (JSON.parse(result as string) as readonly Verdict[])),
        reject: () => resolve([]),
      });
    });
    const late = Array.from({ length: size }, (_, index) => verdicts.then((all) => all[index] ?? 'unknown'));
    reject(new StoreUnavailable(SILENT, { late }));
  }

  #received(number: number, { name, message, details }: SentError): Error {
    if (name === 'VersionConflict') return new VersionConflict(message);
    if (name === 'ChangeUncertain') return new ChangeUncertain(message);
    if (details === undefined) return new Error(message);
    const all = new Promise<readonly (Late | null)[]>((resolve) => {
      if (details.late.length > 0) this.#late.set(number, resolve);
    });
    const late: Promise<Late>[] = [];
    for (const index of details.late) late[index] = all.then((each) => each[index] ?? 'unknown');
    return new StoreUnavailable(message, { ...details, decided: details.decided.map((one) => one ?? undefined), late });
  }
}

/** Calls `work` after `withinMs`, later if this process was suspended. Returns a function that cancels it. */
function awake(withinMs: number, work: () => void): () => void {
  const dueMs = performance.now() + withinMs;
  const timer = setTimeout(() => {
    if (performance.now() - dueMs < LATE_MS) work();
    else stop = awake(GRACE_MS, work);
  }, withinMs);
  let stop = (): void => clearTimeout(timer);
  return () => stop();
}

/** Returns a worker's store, whose calls go to the process that owns it. @param send sends a call */
export function storeOfOwner(name: ServingEngine['name'], send: (call: StoreCall) => void) {
  const calls = new Calls(send);
  let reader = 0;
  const engine: ServingEngine = {
    name,
    admit: async (requests) => {
      const asked = { part: 'admit', requests: JSON.stringify(requests) } as const;
      return JSON.parse((await calls.ask(asked, ADMIT_MS, requests.length)) as string) as readonly Verdict[];
    },
    settle: async (reports) => {
      await calls.ask({ part: 'engine', method: 'settle', args: [reports] }, CALL_MS);
    },
    renew: async (leases) => {
      await calls.ask({ part: 'engine', method: 'renew', args: [leases] }, CALL_MS);
    },
    keys: partOf(calls, 'keys'),
    customers: partOf(calls, 'customers'),
    sessionSecret: partOf(calls, 'sessionSecret'),
    usage: { rows: (...range) => rowsOf(calls, (reader += 1), range) },
  };
  return { engine, answered: (reply: StoreReply) => calls.answered(reply) };
}

/** Returns a proxy for a part of the engine: each method calls the owner. */
function partOf<Part extends StorePart>(calls: Calls, part: Part): ServingEngine[Part] {
  return new Proxy({} as ServingEngine[Part], {
    get:
      (_, method) =>
      (...args: readonly unknown[]) =>
        calls.ask({ part, method: String(method), args }, CALL_MS),
  });
}

async function* rowsOf(
  calls: Calls,
  reader: number,
  range: readonly unknown[],
): AsyncGenerator<readonly UsageRow[], void> {
  const read = (method: string): Promise<unknown> =>
    calls.ask({ part: 'rows', method, args: [reader, ...range] }, CALL_MS);
  let isOver = false;
  try {
    for (let rows = await read('open'); rows !== null; rows = await read('next')) yield rows as readonly UsageRow[];
    isOver = true;
  } finally {
    if (!isOver) await read('close').catch(() => undefined);
  }
}
