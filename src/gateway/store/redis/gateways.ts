import { hostname } from 'node:os';
import { DAY_MS, SETTLE_MS } from '../../admission/bucket.js';
import { finalityOf, type GatewayReport } from '../finality.js';
import type { DayStore, GatewayNotes, Running, SeenGateway } from '../port.js';
import type { Link } from './link/link.js';
import { GATEWAY_DAYS, GATEWAYS, notesName } from './keyspace/names.js';
import { loadScript } from './link/script.js';
import { nowMs } from './ledger/moved-days.js';
import { changedSince, type ChangedKeys } from './records/changes.js';
import { takeBan, takeSpool, type SpooledKey } from './spool.js';
import type { AuditEntry } from '../records/record.js';

/** A gateway that was silent for this long counts as gone. */
const SILENT_MS = 15_000;

const BEAT = loadScript('gateways/beat');
const REPORT = loadScript('gateways/report', { SETTLE_MS });
const GIVE_UP = loadScript('gateways/give-up');
const NOTE = loadScript('gateways/note');

/** What gateways know about each other. Rejects with StoreUnavailable. */
export interface Fleet {
  /** The store's clock. */
  nowMs(): Promise<number>;
  /** Keys and customers whose record changed after `sinceMs`, store time. */
  changedSince(sinceMs: number): Promise<ChangedKeys>;
  /** Reports that a gateway is alive; returns how many are. */
  beat(gatewayId: string): Promise<number>;
  /** Gateways that reported recently. */
  seen(): Promise<readonly SeenGateway[]>;
  report(report: Pick<GatewayReport & SeenGateway, 'gateway' | 'openDay' | 'running'>): Promise<void>;
  /** The notes of a gateway. */
  notes(gatewayId: string): GatewayNotes;
  /** Reports that a gateway has delivered all its counts, and deregisters it. */
  leave(gatewayId: string): Promise<void>;
  /** Adds to the ledger what a gateway counted on its own; may be repeated. */
  take(spoolId: string, spooled: SpooledKey): Promise<void>;
  /** Adds to a key's history a ban that a gateway started on its own; may be repeated. */
  takeBan(keyId: string, entry: AuditEntry): Promise<void>;
}

/** @param onNoted called with a key that has pending events (outbox/pending.ts) */
export function fleetOf(link: Link, usageDays: number, onNoted: (keyId: string) => void): Fleet {
  const beat = async (gatewayId: string, isLeaving: boolean): Promise<number> => {
    const args = [gatewayId, SILENT_MS.toString(), isLeaving ? '0' : '1'];
    return Number((await link.run(BEAT, [GATEWAYS], args)).toString());
  };
  return {
    nowMs: () => nowMs(link),
    changedSince: (sinceMs) => changedSince(link, sinceMs),
    beat: (gatewayId) => beat(gatewayId, false),
    async seen() {
      const reports = await readReports(link);
      const now = link.storeMs(GATEWAY_DAYS);
      return reports
        .filter(({ seenMs, givenUp }) => !givenUp && now - seenMs < SILENT_MS)
        .map(({ gateway, host, seenMs, running }) => ({ gateway, host, seenMs, running }));
    },
    async report({ gateway, openDay, running }) {
      const { version, settings, plans, contract } = running ?? NOTHING;
      // Version 0.3 reads only the host.
      const about = [hostname(), version, settings, plans, contract].join('|');
      await link.run(REPORT, [GATEWAY_DAYS], [gateway, openDay.toString(), about, keptMs(usageDays).toString()]);
    },
    notes: (own) => ({
      own,
      write: async (name, text, textKeptMs) => {
        await link.run(NOTE, [notesName(name)], [own, text, textKeptMs.toString()]);
      },
      read: (name) => link.hash(notesName(name)),
    }),
    async leave(gatewayId) {
      await beat(gatewayId, true);
      await link.command('hdel', GATEWAY_DAYS, gatewayId);
    },
    async take(spoolId, spooled) {
      if (await takeSpool(link, spoolId, spooled, usageDays)) onNoted(spooled.keyId);
    },
    takeBan: (keyId, entry) => takeBan(link, keyId, entry, usageDays),
  };
}

const NOTHING: Running = { version: '', settings: '', plans: '', contract: '' };

/** How long reports are kept; older ones are ignored. */
function keptMs(usageDays: number): number {
  return (usageDays + 1) * DAY_MS;
}

/** Derives from the gateways' reports which days are final. */
export function dayStore(link: Link, finalAfterMs: number, usageDays: number): DayStore {
  return {
    finality: async (now) => {
      const reports = await readReports(link);
      return finalityOf(
        reports.filter(({ seenMs }) => now - seenMs < keptMs(usageDays)),
        now,
        finalAfterMs,
      );
    },
    giveUp: async (gateway) => (await link.run(GIVE_UP, [GATEWAY_DAYS], [gateway])).toString() === '1',
  };
}

async function readReports(link: Link): Promise<readonly (GatewayReport & SeenGateway)[]> {
  return [...(await link.hash(GATEWAY_DAYS))].map(([gateway, text]) => readReport(gateway, text));
}

function readReport(gateway: string, text: string): GatewayReport & SeenGateway {
  const [openDay = '', seenMs = '', word = '', host = '', version = '', ...hashes] = text.split('|');
  const [settings = '', plans = '', contract = ''] = hashes;
  return {
    ...{ gateway, host, openDay: Number(openDay), seenMs: Number(seenMs), givenUp: word === 'given up' },
    running: version === '' ? null : { version, settings, plans, contract },
  };
}
