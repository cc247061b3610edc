import { hostname } from 'node:os';
import { DAY_MS, SETTLE_MS } from '../../admission/bucket.js';
import { finalityOf } from '../finality.js';
import type { GatewayReport } from '../finality.js';
import type { DayStore } from '../port.js';
import type { Link } from './link/link.js';
import { GATEWAY_DAYS, GATEWAYS } from './names.js';
import { scriptOf } from './link/script.js';

/** A gateway that was silent for so long is gone. */
const SILENT_MS = 15_000;

/** KEYS[1]: the set of gateways. ARGV: id of one, how long it may be silent, `1` to stay and `0` to leave. Answers how many there are. */
const BEAT = scriptOf(`
call('ZREMRANGEBYSCORE', KEYS[1], '-inf', clock - ARGV[3])
if ARGV[4] == '1' then call('ZADD', KEYS[1], clock, ARGV[2]) else call('ZREM', KEYS[1], ARGV[2]) end
call('PEXPIRE', KEYS[1], ARGV[3])
return pack('<d', clock) .. string.format('%.0f', call('ZCOUNT', KEYS[1], '-inf', '+inf'))
`);

/** Says that the gateway is there (or leaves), and gives how many are. */
export async function beat(link: Link, gatewayId: string, isLeaving: boolean): Promise<number> {
  return Number(
    (await link.run(BEAT, [GATEWAYS], [gatewayId, SILENT_MS.toString(), isLeaving ? '0' : '1'])).toString(),
  );
}

/**
 * A gateway's report of the days of which it may still bring counts: a day of the store's clock is never reported to
 * be done before its last exchanges are. KEYS[1]: the gateways' reports. ARGV: id, its first open day, name of its
 * host, ms that it is kept.
 */
const REPORT = scriptOf(`
local settled = floor((clock - ${SETTLE_MS}) / ${DAY_MS})
local open = tonumber(ARGV[3])
if open > settled then open = settled end
call('HSET', KEYS[1], ARGV[2], string.format('%.0f|%.0f|told|', open, clock) .. ARGV[4])
call('PEXPIRE', KEYS[1], ARGV[5])
return pack('<d', clock) .. '1'
`);

/** KEYS[1]: the gateways' reports. ARGV: id. Answers 0 when there is none of that id. */
const GIVE_UP = scriptOf(`
local report = call('HGET', KEYS[1], ARGV[2])
if not report then return pack('<d', clock) .. '0' end
call('HSET', KEYS[1], ARGV[2], (report:gsub('|told|', '|given up|', 1)))
return pack('<d', clock) .. '1'
`);

/** Says that the gateway has no counts of days before `openDay` (days since 1970-01-01) that the ledger lacks. */
export async function report(link: Link, gatewayId: string, openDay: number, keptMs: number): Promise<void> {
  await link.run(REPORT, [GATEWAY_DAYS], [gatewayId, openDay.toString(), hostname(), keptMs.toString()]);
}

/** Says that the gateway has no counts at all that the ledger lacks, and leaves. */
export async function leave(link: Link, gatewayId: string): Promise<void> {
  await beat(link, gatewayId, true);
  await link.command('hdel', GATEWAY_DAYS, gatewayId);
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
