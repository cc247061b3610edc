import { MAX_BALANCE } from '../../admission/bucket.js';
import type { Terms } from '../../admission/plan.js';
import { refillOf, windowsOf } from '../../admission/windows.js';
import { noCounts, type UsageCounts, type UsageRow } from '../records/counts.js';
import type { AuditEntry } from '../records/record.js';
import { dayNumber } from '../../../shared/utc-day.js';
import type { Link } from './link/link.js';
import { luaLimit } from './admit/plans.js';
import { MAX_DAYS } from './ledger/active-days.js';
import { dayNumberOf, historyName, keyName, ledgerName, payerName, spoolName } from './keyspace/names.js';
import { loadScript } from './link/script.js';

const TAKE = loadScript('ledger/take-spool', { MAX_BALANCE, MAX_DAYS });
const TAKE_BAN = loadScript('ledger/take-ban');

/** One key's counts in a spool, absolute. */
export interface SpooledKey {
  readonly keyId: string;
  /** Each with what Redis has acknowledged, if anything. */
  readonly rows: readonly (UsageRow & { readonly acknowledged?: UsageCounts })[];
  /** The key's terms while Redis decides; undefined if unknown. */
  readonly terms?: Terms | undefined;
  /** Shares of its limits to warn at, percent; undefined if none. */
  readonly warnAt?: readonly number[] | undefined;
}

/**
 * Takes over the key's counts, except what was taken before. When it resolves, all of them are in the ledger. Returns
 * true if that noted events (outbox/pending.ts).
 */
export async function takeSpool(
  link: Link,
  spoolId: string,
  { keyId, rows, terms, warnAt }: SpooledKey,
  usageDays: number,
): Promise<boolean> {
  const days = [...new Set(rows.map((row) => dayNumberOf(row.day)))];
  const names = [payerName(keyId)];
  for (const day of days) names.push(ledgerName(keyId, day), spoolName(keyId, day));
  // The hash in which its active days are entered.
  if (names[0] !== keyName(keyId)) names.push(keyName(keyId));
  const { day: ofDay = 'unlimited', month: ofMonth = 'unlimited' } = terms?.limits ?? {};
  const args: (string | number)[] = [
    spoolId,
    (usageDays + 1) * 86_400,
    terms?.refill === 'greedy' && ofDay !== 'unlimited' ? ofDay : '',
    String.fromCharCode(...(warnAt ?? [])),
    luaLimit(ofDay),
    luaLimit(ofMonth),
    terms?.plan ?? '',
    keyName(keyId),
  ];
  for (const row of rows) {
    const { day: name, plan, operation, acknowledged = noCounts() } = row;
    const day = dayNumberOf(name);
    args.push(2 + 2 * days.indexOf(day), day, `${plan}|${operation}`, ...inOrder(row));
    args.push(ownWindows(terms, operation).join('\n'), ...inOrder(acknowledged));
  }
  return (await link.run(TAKE, names, args.map(String))).toString() === '2';
}

/** Returns the counts in the order that the script expects. */
function inOrder({ requests, units, returned, limited, banned, failed }: UsageCounts): readonly number[] {
  return [requests, limited, banned, failed, units - requests, returned];
}

/** Adds a ban that started while Redis was unavailable to the key's history; does nothing if repeated. */
export async function takeBan(link: Link, keyId: string, entry: AuditEntry, usageDays: number): Promise<void> {
  const names = [keyName(keyId), historyName(keyId), spoolName(keyId, dayNumber(entry.atMs))];
  const seconds = ((usageDays + 1) * 86_400).toString();
  await link.run(TAKE_BAN, names, [`ban ${String(entry.changed['until'])}`, JSON.stringify(entry), seconds]);
}

/** The operation's own windows per day and month that its requests take from, except greedy ones; and the balance. */
function ownWindows(terms: Terms | undefined, operation: string): readonly string[] {
  if (terms === undefined) return [];
  return windowsOf(terms, operation)
    .filter(({ name, per }) => name !== 'month' && per !== 'minute' && refillOf(per, terms.refill) === 'interval')
    .map(({ name }) => name);
}
