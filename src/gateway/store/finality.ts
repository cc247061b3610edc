import { DAY_MS, SETTLE_MS } from '../admission/bucket.js';

/** A gateway's last report of the counts that it may still bring. */
export interface GatewayReport {
  readonly gateway: string;
  readonly host: string;
  /** The first day of which it may bring counts, days since 1970-01-01. */
  readonly openDay: number;
  /** Store ms. */
  readonly seenMs: number;
  /** An operator said that it won't come back. */
  readonly givenUp: boolean;
}

/** A gateway that was not heard in time, and the days of which it may have counts. */
export interface Missing {
  readonly gateway: string;
  readonly host: string;
  /** UTC days, both included: `2026-11-21`. A gateway that is cut off admits for a day at most. */
  readonly from: string;
  readonly to: string;
  readonly seenMs: number;
  /** When its days become final without it, store ms; null once they are. */
  readonly finalAtMs: number | null;
}

/** Which days are final: no gateway can bring counts of them any more. */
export interface Finality {
  /** Days before this one are final. */
  readonly openFrom: string;
  /** Gateways that keep days open which would be final else. */
  readonly waitingFor: readonly Missing[];
  /** Gateways without which days became final: given up, or silent for too long. */
  readonly without: readonly Missing[];
}

/** A gateway says so every second: one that was heard so lately is not missing. */
const HEARD_MS = 90_000;

/** @param finalAfterMs a gateway that was silent for so long is waited for no longer */
export function finalityOf(reports: readonly GatewayReport[], nowMs: number, finalAfterMs: number): Finality {
  let openDay = dayAt(nowMs - SETTLE_MS);
  const settledDay = openDay;
  const [waitingFor, without]: [Missing[], Missing[]] = [[], []];
  for (const each of reports) {
    const { gateway, host, seenMs } = each;
    const finalAtMs = seenMs + finalAfterMs;
    const isOver = each.givenUp || nowMs >= finalAtMs;
    const missing = {
      gateway,
      host,
      from: nameOf(each.openDay),
      to: nameOf(dayAt(seenMs + DAY_MS)),
      seenMs,
      finalAtMs: isOver ? null : finalAtMs,
    };
    if (isOver) {
      without.push(missing);
      continue;
    }
    if (each.openDay < settledDay && nowMs - seenMs > HEARD_MS) waitingFor.push(missing);
    openDay = Math.min(openDay, each.openDay);
  }
  return { openFrom: nameOf(openDay), waitingFor, without };
}

/** Ids of the gateways without whose counts `day` became final, with blanks between; empty where there is none. */
export function withoutOn(day: string, without: readonly Missing[]): string {
  return without
    .filter(({ from, to }) => from <= day && day <= to)
    .map(({ gateway }) => gateway)
    .join(' ');
}

function dayAt(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}

function nameOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
