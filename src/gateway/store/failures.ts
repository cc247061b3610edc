import { randomBytes } from 'node:crypto';
import { DAY_MS, SETTLE_MS } from '../admission/bucket.js';
import { StoreUnavailable } from '../admission/port.js';
import type { FailedRequest, FailureReport, ServingEngine } from './port.js';

/** Delay before a failure report that was not accepted is sent again. */
const RETRY_MS = 1000;
/** Failures kept while the store is unavailable; beyond that the oldest are dropped and passed to `onDropped`. */
const MAX_WAITING = 100_000;
/**
 * A day is final `SETTLE_MS` after its end: reports are sent before that, with a margin for differing clocks, or never.
 */
const ROOM_MS = 300_000;

export interface Failures {
  add(failure: FailedRequest): void;
  /** Writes the remaining ones; returns how many could not be written. */
  flush(): Promise<number>;
}

/**
 * Collects the 5xx of one event-loop turn into one store call. Reports that the store may not have accepted are sent
 * again under the same name until it has. A lost one leaves a failed request on the bill.
 * @param now unix ms
 */
export function collectFailures(
  engine: Pick<ServingEngine, 'fail'>,
  onDropped: (count: number) => void,
  now: () => number = Date.now,
): Failures {
  const reportsOf = createReporter();
  let fresh: FailedRequest[] = [];
  /** Sent and not acknowledged, at most one per key and day. */
  let open: readonly FailureReport[] = [];
  let scheduled = false;
  let again: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  /** Drops those that are too late or too many. */
  const drop = (): void => {
    const before = countOf(open) + fresh.length;
    const firstDay = dayOf(now() - SETTLE_MS + ROOM_MS);
    open = open.filter(({ day }) => day >= firstDay);
    fresh = fresh.filter(({ admittedAtMs }) => dayOf(admittedAtMs) >= firstDay);
    while (open.length > 0 && countOf(open) + fresh.length > MAX_WAITING) open = open.slice(1);
    fresh.splice(0, fresh.length - MAX_WAITING);
    const dropped = before - countOf(open) - fresh.length;
    if (dropped > 0) onDropped(dropped);
  };
  const write = async (): Promise<void> => {
    scheduled = false;
    clearTimeout(again);
    again = undefined;
    drop();
    const busy = new Set(open.map(({ keyId, day }) => `${keyId} ${day}`));
    const isBusy = ({ keyId, admittedAtMs }: FailedRequest): boolean => busy.has(`${keyId} ${dayOf(admittedAtMs)}`);
    const offered = [...open, ...reportsOf(fresh.filter((failure) => !isBusy(failure)))];
    fresh = fresh.filter(isBusy);
    if (offered.length === 0) return;
    open = await refused(engine, offered);
    if (open.length > 0) again ??= setTimeout(start, RETRY_MS).unref();
    else if (fresh.length > 0) await write();
  };
  const start = (): void => {
    writing = writing.then(write);
  };
  return {
    add: (failure) => {
      fresh.push(failure);
      if (scheduled) return;
      scheduled = true;
      setImmediate(start);
    },
    flush: async () => {
      start();
      await writing;
      return countOf(open) + fresh.length;
    },
  };
}

/** Groups failures into reports, one for each key and day, named by one reporter. */
export function createReporter(): (failures: readonly FailedRequest[]) => readonly FailureReport[] {
  const reporter = randomBytes(9).toString('base64url');
  let number = 0;
  return (failures) => {
    const groups = new Map<string, FailedRequest[]>();
    for (const failure of failures) {
      const name = `${failure.keyId} ${dayOf(failure.admittedAtMs)}`;
      const known = groups.get(name);
      if (known === undefined) groups.set(name, [failure]);
      else known.push(failure);
    }
    return [...groups.values()].map((its) => ({
      reporter,
      number: (number += 1),
      keyId: its[0]!.keyId,
      day: dayOf(its[0]!.admittedAtMs),
      failures: its,
    }));
  };
}

function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}

/** Sends reports; returns those to send again. */
async function refused(
  engine: Pick<ServingEngine, 'fail'>,
  reports: readonly FailureReport[],
): Promise<readonly FailureReport[]> {
  try {
    await engine.fail(reports);
    return [];
  } catch (error) {
    const accepted = new Set(error instanceof StoreUnavailable ? error.accepted : []);
    return reports.filter((_, index) => !accepted.has(index));
  }
}

function countOf(reports: readonly FailureReport[]): number {
  return reports.reduce((sum, { failures }) => sum + failures.length, 0);
}
