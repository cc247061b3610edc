import { hostname } from 'node:os';
import { SETTLE_MS } from '../../admission/bucket.js';
import { finalityOf, type GatewayReport } from '../finality.js';
import type { DayStore, GatewayNotes, Running, SeenGateway } from '../port.js';
import type { Link } from './link/link.js';
import { GATEWAY_DAYS, GATEWAYS, notesName } from './names.js';
import { loadScript } from './link/script.js';

/** A gateway that was silent for this long counts as gone. */
const SILENT_MS = 15_000;

const BEAT = loadScript('gateways/beat');

/** Reports that the gateway is alive (or leaves); returns how many are. */
export async function beat(link: Link, gatewayId: string, isLeaving: boolean): Promise<number> {
  return Number(
    (await link.run(BEAT, [GATEWAYS], [gatewayId, SILENT_MS.toString(), isLeaving ? '0' : '1'])).toString(),
  );
}

const REPORT = loadScript('gateways/report', { SETTLE_MS });

const GIVE_UP = loadScript('gateways/give-up');

/** What a gateway reports: up to which day it has delivered its counts, and what it runs. */
export interface Report {
  readonly gateway: string;
  /** It has no counts of days before this one (days since 1970-01-01) that the ledger lacks. */
  readonly openDay: number;
  readonly running: Running | null;
}

export async function report(link: Link, { gateway, openDay, running }: Report, keptMs: number): Promise<void> {
  const { version, settings, plans, contract } = running ?? NOTHING;
  // Version 0.3 reads only the host.
  const about = [hostname(), version, settings, plans, contract].join('|');
  await link.run(REPORT, [GATEWAY_DAYS], [gateway, openDay.toString(), about, keptMs.toString()]);
}

const NOTHING: Running = { version: '', settings: '', plans: '', contract: '' };

/** The gateways that are alive, as they reported. */
export async function seen(link: Link): Promise<readonly SeenGateway[]> {
  const reports = [...(await link.hash(GATEWAY_DAYS))].map(([gateway, text]) => readReport(gateway, text));
  const nowMs = link.storeMs(GATEWAY_DAYS);
  return reports
    .filter(({ seenMs, givenUp }) => !givenUp && nowMs - seenMs < SILENT_MS)
    .map(({ gateway, host, seenMs, running }) => ({ gateway, host, seenMs, running }));
}

const NOTE = loadScript('gateways/note');

export function notesOf(link: Link, own: string): GatewayNotes {
  return {
    own,
    write: async (name, text, keptMs) => {
      await link.run(NOTE, [notesName(name)], [own, text, keptMs.toString()]);
    },
    read: (name) => link.hash(notesName(name)),
  };
}

/** Reports that the gateway has no counts that the ledger lacks, and deregisters it. */
export async function leave(link: Link, gatewayId: string): Promise<void> {
  await beat(link, gatewayId, true);
  await link.command('hdel', GATEWAY_DAYS, gatewayId);
}

/** The clock of the node that has the reports. Rejects with StoreUnavailable. */
export async function nowMs(link: Link): Promise<number> {
  // A response includes the clock.
  await link.command('exists', GATEWAY_DAYS);
  return link.storeMs(GATEWAY_DAYS);
}

/**
 * Derives from the gateways' reports which days are final.
 * @param keptMs older reports are ignored
 */
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

function readReport(gateway: string, text: string): GatewayReport & SeenGateway {
  const [openDay = '', seenMs = '', word = '', host = '', version = '', ...hashes] = text.split('|');
  const [settings = '', plans = '', contract = ''] = hashes;
  return {
    ...{ gateway, host, openDay: Number(openDay), seenMs: Number(seenMs), givenUp: word === 'given up' },
    running: version === '' ? null : { version, settings, plans, contract },
  };
}
