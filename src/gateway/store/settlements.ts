import { randomBytes } from 'node:crypto';
import { dayNumber } from '../../shared/utc-day.js';
import { groupBy } from '../../shared/group-by.js';
import { SETTLE_MS } from '../admission/bucket.js';
import { StoreUnavailable } from '../admission/port.js';
import type { EndedRequest, SettlementReport, ServingEngine } from './port.js';

/** Delay before a report that was not accepted is sent again. */
const RETRY_MS = 1000;
/** Ended requests kept while the store is unavailable; beyond that the oldest are dropped, and `onDropped` called. */
const MAX_WAITING = 100_000;
/** Ended requests in one report: bounds how long Redis is busy with it. */
const MAX_ENDED = 1_000;
/**
 * A day is final `SETTLE_MS` after its end: reports are sent before that, with a margin for differing clocks, or never.
 */
const ROOM_MS = 300_000;

export interface Settlements {
  add(request: EndedRequest): void;
  /** Writes the remaining ones; returns how many could not be written. */
  flush(): Promise<number>;
}

/**
 * Collects the ends of one event-loop turn into one store call. Reports that the store may not have accepted are sent
 * again under the same name until it has. A lost one leaves a failed request on the bill, or a hold charged.
 * @param clock unix ms
 */
export function collectSettlements(
  engine: Pick<ServingEngine, 'settle'>,
  onDropped: (count: number) => void,
  clock: () => number = Date.now,
): Settlements {
  const reportsOf = createReporter();
  let fresh: EndedRequest[] = [];
  /** Sent and not acknowledged, at most one per key and day. */
  let open: readonly SettlementReport[] = [];
  let scheduled = false;
  let again: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  /** Drops those that are too late or too many. */
  const drop = (): void => {
    const before = countOf(open) + fresh.length;
    const firstDay = dayNumber(clock() - SETTLE_MS + ROOM_MS);
    open = open.filter(({ day }) => day >= firstDay);
    fresh = fresh.filter(({ admittedAtMs }) => dayNumber(admittedAtMs) >= firstDay);
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
    const counts = new Map(open.map(({ keyId, day }) => [`${keyId} ${day}`, MAX_ENDED]));
    const [now, later] = [[] as EndedRequest[], [] as EndedRequest[]];
    for (const request of fresh) {
      const name = ledgerOf(request);
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      (count < MAX_ENDED ? now : later).push(request);
    }
    const offered = [...open, ...reportsOf(now)];
    fresh = later;
    if (offered.length === 0) return;
    open = await refused(engine, offered);
    if (open.length > 0) again ??= setTimeout(start, RETRY_MS).unref();
    else if (fresh.length > 0) await write();
  };
  const start = (): void => {
    writing = writing.then(write);
  };
  return {
    add: (request) => {
      fresh.push(request);
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

/** Groups ended requests into reports, one for each key and day, named by one reporter. */
export function createReporter(): (ended: readonly EndedRequest[]) => readonly SettlementReport[] {
  const reporter = randomBytes(9).toString('base64url');
  let number = 0;
  return (ended) => {
    return [...groupBy(ended, ledgerOf).values()].map((its) => {
      const [{ keyId, admittedAtMs }] = its;
      return { reporter, number: (number += 1), keyId, day: dayNumber(admittedAtMs), ended: its };
    });
  };
}

function ledgerOf({ keyId, admittedAtMs }: EndedRequest): string {
  return `${keyId} ${dayNumber(admittedAtMs)}`;
}

/** Sends reports; returns those to send again. */
async function refused(
  engine: Pick<ServingEngine, 'settle'>,
  reports: readonly SettlementReport[],
): Promise<readonly SettlementReport[]> {
  try {
    await engine.settle(reports);
    return [];
  } catch (error) {
    const accepted = new Set(error instanceof StoreUnavailable ? error.accepted : []);
    return reports.filter((_, index) => !accepted.has(index));
  }
}

function countOf(reports: readonly SettlementReport[]): number {
  return reports.reduce((sum, { ended }) => sum + ended.length, 0);
}
