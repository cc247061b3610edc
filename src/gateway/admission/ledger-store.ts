import type { CustomerStore } from './customers/record.js';
import type { Finality } from './finality.js';
import type { UsageRow } from './port.js';

/** Which rows of a range are asked for. */
interface LedgerPart {
  /** Only of this key. */
  readonly keyId?: string | undefined;
  /** Only of keys behind this one. */
  readonly after?: string | null;
}

export interface StoredPart extends LedgerPart {
  /** Days that stand in the archive, and whether the store let go of them: of these only what was counted since. */
  readonly archived: ReadonlyMap<string, 'held' | 'moved'>;
}

/** The ledger as reports read it, for a process that does nothing else. Rejects with StoreUnavailable. */
export interface LedgerStore {
  /** As `UsageStore.rows`. */
  rows(from: string, to: string, part: LedgerPart): AsyncIterable<readonly UsageRow[]>;
  /** As `CustomerStore.page`; may be handed on by itself. */
  readonly customers: CustomerStore['page'];
  close(): Promise<void>;
}

/** A ledger that is moved into an archive. */
export interface ArchivedLedger extends LedgerStore {
  rows(from: string, to: string, part: StoredPart): AsyncIterable<readonly UsageRow[]>;
  /** All that was counted of a day, whoever did: keys in the order of their ids, a key's rows by plan and operation. */
  day(day: string): AsyncIterable<readonly UsageRow[]>;
  /** Lets go of these rows of a day. What was counted beyond them stays. May break off anywhere, and be repeated. */
  remove(day: string, rows: AsyncIterable<readonly UsageRow[]>): Promise<void>;
  /** Takes rows of a day back, of which it has none. May be repeated. */
  restore(day: string, rows: AsyncIterable<readonly UsageRow[]>): Promise<void>;
  /** Id of the archive that days were moved to; null before the first. */
  archiveId(): Promise<string | null>;
  /** Names the archive, unless another one is named. Gives the one that is. */
  bind(archiveId: string): Promise<string>;
  unbind(): Promise<void>;
  nowMs(): Promise<number>;
  finality(nowMs: number): Promise<Finality>;
}
