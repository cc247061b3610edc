import type { AuditEntry } from '../../records/record.js';
import { automaticBanRow, awaitedBanRow, bansRow, rangeOf, recordRow } from '../files/rows.js';
import type { Store } from '../files/store.js';

/**
 * Automatic bans on their way into the history of their keys. The admission writes them beside its row of the log, in
 * `recent`; the checkpoint takes them over in the step in which it copies that row, as pending events: a power cut
 * loses both or neither. In the outage mode no key has a record here: its bans wait for Redis (outage/spool.ts).
 */
export interface BanOfKey {
  readonly keyId: string;
  /** Of the record that it met: in the history it stands behind that, whatever changed since. */
  readonly version: number;
  readonly entry: AuditEntry;
}

/** In the transaction on `recent` with this id: the bans that it began. */
export function writeBans(recent: Store, transaction: number, bans: readonly BanOfKey[]): void {
  recent.putSync(bansRow(transaction), Buffer.from(JSON.stringify(bans)));
}

/** In a transaction on `durable`: takes there what transactions after `after` wrote, up to `upTo`. */
export function takeBans(recent: Store, durable: Store, after: number, upTo: number): void {
  for (const { value } of recent.getRange({ start: bansRow(after + 1), end: bansRow(upTo + 1) }))
    for (const ban of JSON.parse(value.toString()) as readonly BanOfKey[]) {
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
