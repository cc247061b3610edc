import type { AuditEntry } from '../../records/record.js';
import { automaticBanRow, awaitedBanRow, rangeOf, recordRow } from '../files/rows.js';
import type { Store } from '../files/store.js';

/**
 * Automatic bans on their way into the history of their keys. The admission writes them into its record of the journal;
 * they get into the file as events do. In the outage mode no key has a record here: its bans wait for Redis
 * (outage/spool.ts).
 */
export interface BanOfKey {
  readonly keyId: string;
  /** The version of the record at the ban: the history lists the ban after that version. */
  readonly version: number;
  readonly entry: AuditEntry;
}

/** In a transaction: into the history. */
export function putBans(durable: Store, bans: readonly BanOfKey[]): void {
  for (const ban of bans) {
    const { keyId, version, entry } = ban;
    if (durable.doesExist(recordRow(keyId)))
      durable.putSync(automaticBanRow(keyId, version, entry.atMs, untilOf(ban)), Buffer.from(JSON.stringify(entry)));
    else durable.putSync(awaitedBanRow(keyId, untilOf(ban)), Buffer.from(JSON.stringify(ban)));
  }
}

/** Some of those that wait in `durable`. */
export function awaitedBans(durable: Store, limit: number): readonly BanOfKey[] {
  return [...durable.getRange({ ...rangeOf('B'), limit })].map(({ value }) => JSON.parse(value.toString()) as BanOfKey);
}

/** In a transaction on `durable`: these wait no more. */
export function forgetAwaited(durable: Store, bans: readonly BanOfKey[]): void {
  for (const ban of bans) durable.removeSync(awaitedBanRow(ban.keyId, untilOf(ban)));
}

function untilOf({ entry }: BanOfKey): string {
  return String(entry.changed['until']);
}
