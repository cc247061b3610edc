import { hostname } from 'node:os';
import { SETTLE_MS } from '../../admission/bucket.js';
import { finalityOf, type GatewayReport } from '../finality.js';
import type { DayStore, SeenGateway } from '../port.js';
import type { Link } from './link/link.js';
import { GATEWAY_DAYS, GATEWAYS } from './names.js';
import { loadScript } from './link/script.js';

/** A gateway that was silent for so long is gone. */
const SILENT_MS = 15_000;

const BEAT = loadScript('gateways/beat');

/** Says that the gateway is there (or leaves), and gives how many are. */
export async function beat(link: Link, gatewayId: string, isLeaving: boolean): Promise<number> {
  return Number(
    (await link.run(BEAT, [GATEWAYS], [gatewayId, SILENT_MS.toString(), isLeaving ? '0' : '1'])).toString(),
  );
}

const REPORT = loadScript('gateways/report', { SETTLE_MS });

const GIVE_UP = loadScript('gateways/give-up');

/** Says that the gateway has no counts of days before `openDay` (days since 1970-01-01) that the ledger lacks. */
export async function report(link: Link, gatewayId: string, openDay: number, keptMs: number): Promise<void> {
  await link.run(REPORT, [GATEWAY_DAYS], [gatewayId, openDay.toString(), hostname(), keptMs.toString()]);
}

/** The gateways that are there, as they said themselves. */
export async function seen(link: Link): Promise<readonly SeenGateway[]> {
  const reports = [...(await link.hash(GATEWAY_DAYS))].map(([gateway, text]) => readReport(gateway, text));
  const nowMs = link.storeMs(GATEWAY_DAYS);
  return reports
    .filter(({ seenMs, givenUp }) => !givenUp && nowMs - seenMs < SILENT_MS)
    .map(({ gateway, host, seenMs }) => ({ gateway, host, seenMs }));
}

/** Says that the gateway has no counts at all that the ledger lacks, and leaves. */
export async function leave(link: Link, gatewayId: string): Promise<void> {
  await beat(link, gatewayId, true);
  await link.command('hdel', GATEWAY_DAYS, gatewayId);
}

/** What the clock shows of the node where they are known. Rejects with StoreUnavailable. */
export async function nowMs(link: Link): Promise<number> {
  // What answers has shown its clock.
  await link.command('exists', GATEWAY_DAYS);
  return link.storeMs(GATEWAY_DAYS);
}

/** Which days are final follows from the gateways' reports. @param keptMs a report older than this is forgotten */
export function dayStore(link: Link, finalAfterMs: number, keptMs: number): DayStore {
  return {
    finality: async (nowMs) => {
      const reports = [...(await link.hash(GATEWAY_DAYS))].map(([gateway, text]) => readReport(gateway, text));
      return finalityOf(
        reports.filter(({ seenMs }) => nowMs - seenMs < keptMs),
        nowMs,
        finalAfterMs,
      );
    },
    giveUp: async (gateway) => (await link.run(GIVE_UP, [GATEWAY_DAYS], [gateway])).toString() === '1',
  };
}

function readReport(gateway: string, text: string): GatewayReport {
  const [openDay = '', seenMs = '', word = '', host = ''] = text.split('|');
  return { gateway, host, openDay: Number(openDay), seenMs: Number(seenMs), givenUp: word === 'given up' };
}
