import type { AuditEntry, StoredRecord } from '../../records/record.js';
import { automaticBanRow, awaitedBanRow, bansRow, rangeOf, recordRow, SEPARATOR } from '../files/rows.js';
import type { Store } from '../files/store.js';

/**
 * Automatic bans on their way into the history of their keys. The admission writes them beside its row of the log, in
 * `recent`; the checkpoint takes them over in the step in which it copies that row, as pending events: a power cut
 * loses both or neither. In the outage mode no key has a record here: its bans wait for Redis (outage/spool.ts).
 */
export type BanOfKey = readonly [keyId: string, entry: AuditEntry];

/** In the transaction on `recent` with this id: the bans that it began. */
export function writeBans(recent: Store, transaction: number, bans: readonly BanOfKey[]): void {
  recent.putSync(bansRow(transaction), Buffer.from(JSON.stringify(bans)));
}

/** In a transaction on `durable`: takes there what transactions after `after` wrote, up to `upTo`. */
export function takeBans(recent: Store, durable: Store, after: number, upTo: number): void {
  for (const { value } of recent.getRange({ start: bansRow(after + 1), end: bansRow(upTo + 1) }))
    for (const [keyId, entry] of JSON.parse(value.toString()) as readonly BanOfKey[]) {
      const record = durable.getBinary(recordRow(keyId));
      const until = String(entry.changed['until']);
      const row =
        record === undefined
          ? awaitedBanRow(keyId, until)
          : automaticBanRow(keyId, (JSON.parse(record.toString()) as StoredRecord).version, entry.atMs, until);
      durable.putSync(row, Buffer.from(JSON.stringify(entry)));
    }
}

/** Some of those that wait in `durable`. */
export function awaitedBans(durable: Store, limit: number): readonly BanOfKey[] {
  return [...durable.getRange({ ...rangeOf('B'), limit })].map(
    ({ key, value }) => [key.slice(1, key.indexOf(SEPARATOR)), JSON.parse(value.toString()) as AuditEntry] as const,
  );
}

/** In a transaction on `durable`: these wait no more. */
export function forgetAwaited(durable: Store, bans: readonly BanOfKey[]): void {
  for (const [keyId, { changed }] of bans) durable.removeSync(awaitedBanRow(keyId, String(changed['until'])));
}
