import { SETTLE_MS } from '../admission/bucket.js';
import { DAY_MS, dayNumber, dayOf } from '../../shared/utc-day.js';

/** A gateway's last report of counts that it may still deliver. */
export interface GatewayReport {
  readonly gateway: string;
  readonly host: string;
  /** The first day it may have counts for, in days since 1970-01-01. */
  readonly openDay: number;
  /** Store ms. */
  readonly seenMs: number;
  /** An operator reported that it will not return. */
  readonly givenUp: boolean;
}

/** A gateway that did not report in time, and the days it may have counts for. */
export interface Missing {
  readonly gateway: string;
  readonly host: string;
  /** UTC days, inclusive: `2026-11-21`. An isolated gateway admits for one day at most. */
  readonly from: string;
  readonly to: string;
  readonly seenMs: number;
  /** When its days become final without it, store ms; null once they are. */
  readonly finalAtMs: number | null;
}

/** Which days are final: no gateway can deliver more counts for them. */
export interface Finality {
  /** Days before this one are final. */
  readonly openFrom: string;
  /** Gateways that keep days from being final. */
  readonly waitingFor: readonly Missing[];
  /** Gateways whose counts may be missing in final days: given up, or silent for too long. */
  readonly without: readonly Missing[];
}

/** Gateways report every second: one that did so this recently is not missing. */
const HEARD_MS = 90_000;

/** Returns which days are final at `nowMs`, store ms. @param finalAfterMs how long to wait for a silent gateway */
export function finalityOf(reports: readonly GatewayReport[], nowMs: number, finalAfterMs: number): Finality {
  let openDay = dayNumber(nowMs - SETTLE_MS);
  const settledDay = openDay;
  const [waitingFor, without]: [Missing[], Missing[]] = [[], []];
  for (const each of reports) {
    const { gateway, host, seenMs } = each;
    const finalAtMs = seenMs + finalAfterMs;
    const isOver = each.givenUp || nowMs >= finalAtMs;
    const [from, to] = [dayOf(each.openDay * DAY_MS), dayOf(seenMs + DAY_MS)];
    const missing = { gateway, host, from, to, seenMs, finalAtMs: isOver ? null : finalAtMs };
    if (isOver) {
      without.push(missing);
      continue;
    }
    if (each.openDay < settledDay && nowMs - seenMs > HEARD_MS) waitingFor.push(missing);
    openDay = Math.min(openDay, each.openDay);
  }
  return { openFrom: dayOf(openDay * DAY_MS), waitingFor, without };
}

/** Returns the IDs of the gateways whose counts may be missing in `day`, separated by spaces; empty if none. */
export function withoutOn(day: string, without: readonly Missing[]): string {
  return without
    .filter(({ from, to }) => from <= day && day <= to)
    .map(({ gateway }) => gateway)
    .join(' ');
}
