import type { AuditEntry } from '../../records/record.js';
import { automaticBanRow, awaitedBanRow, rangeOf, recordRow } from '../files/rows.js';
import type { Store } from '../files/database.js';

/**
 * An automatic ban on its way into the history of its key. The admission writes it into its journal record, from which
 * it moves to the file as events do. In outage mode keys have no record here: bans wait for Redis (outage/spool.ts).
 */
export interface BanOfKey {
  readonly keyId: string;
  /** The version of the record at the ban: the history lists the ban after that version. */
  readonly version: number;
  readonly entry: AuditEntry;
}

/** Writes bans into the history of their keys; without a record, into rows that wait for Redis. In a transaction. */
export function putBans(durable: Store, bans: readonly BanOfKey[]): void {
  for (const ban of bans) {
    const { keyId, version, entry } = ban;
    if (durable.doesExist(recordRow(keyId)))
      durable.putSync(automaticBanRow(keyId, version, entry.atMs, untilOf(ban)), Buffer.from(JSON.stringify(entry)));
    else durable.putSync(awaitedBanRow(keyId, untilOf(ban)), Buffer.from(JSON.stringify(ban)));
  }
}

/** Returns up to `limit` bans that wait for Redis. */
export function awaitedBans(durable: Store, limit: number): readonly BanOfKey[] {
  return [...durable.getRange({ ...rangeOf('B'), limit })].map(({ value }) => JSON.parse(value.toString()) as BanOfKey);
}

/** Deletes the rows of bans that Redis now has. In a transaction. */
export function forgetAwaited(durable: Store, bans: readonly BanOfKey[]): void {
  for (const ban of bans) durable.removeSync(awaitedBanRow(ban.keyId, untilOf(ban)));
}

function untilOf({ entry }: BanOfKey): string {
  return String(entry.changed['until']);
}
