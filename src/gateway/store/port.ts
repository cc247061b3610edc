import type { TokenStore } from './records/admin-token.js';
import type { CustomerStore } from './records/customer.js';
import type { GatewayEvent, Outbox, OutboxChange } from './outbox/event.js';
import type { AuditEntry, KeyRecord } from './records/key.js';
import type { Finality } from './finality.js';
import type { Decider } from '../admission/port.js';

/** An admitted request that ended in a 5xx. The day is that of the admission, store ms. */
export interface FailedRequest {
  readonly keyId: string;
  readonly plan: string;
  readonly operation: string;
  readonly admittedAtMs: number;
}

/**
 * Failures of one key and UTC day, offered under one name until the store has taken them: offering a credit
 * again is harmless. Its content never changes, and the next of the same key, day and teller waits until it is taken.
 */
export interface Credit {
  /** Random name of the process that counted. */
  readonly teller: string;
  /** Grows with every credit of the teller. */
  readonly number: number;
  readonly keyId: string;
  /** Days since 1970-01-01, UTC. */
  readonly day: number;
  readonly failures: readonly FailedRequest[];
}

/** Cumulative counts of one key, plan, operation and UTC day. */
export interface UsageCounts {
  readonly requests: number;
  /** What the requests cost. */
  readonly units: number;
  readonly limited: number;
  readonly banned: number;
  readonly failed: number;
}
export interface UsageRow extends UsageCounts {
  readonly key: string;
  readonly plan: string;
  readonly operation: string;
  /** `2026-11-21` */
  readonly day: string;
}

/** Why an operator banned a key, and who it was. */
export interface BanNote {
  readonly reason: string | null;
  readonly actor: string;
}

/** A ban in force. `note` is null for one that began by itself, after refusals. */
export interface Ban {
  readonly keyId: string;
  readonly untilMs: number;
  readonly level: number;
  readonly note: BanNote | null;
}

/** The change is made on the master, and no replica has confirmed it in time: a failover may undo it. */
export class ChangeUncertain extends Error {
  override readonly name = 'ChangeUncertain';
}

/** Somebody else changed the record since it was read, or it exists already. Read again and retry. */
export class VersionConflict extends Error {
  override readonly name = 'VersionConflict';
}

/** The import was silent for so long that somebody else dropped it. None of its keys is or ever will be good. */
export class ImportLost extends Error {
  override readonly name = 'ImportLost';
}

/** Key records. A write rejects with ChangeUncertain when no replica confirmed it. Every change holds on the next admission of every gateway, and is durable when the promise ends. */
export interface KeyStore {
  read(id: string): Promise<KeyRecord | undefined>;
  /** Ends when what is stored of the key is as certain as after `write`: for a change that finds itself made already. */
  confirm(id: string): Promise<void>;
  /** Writes `record`, its audit entry and what it means for the outbox in one step if the stored version is `record.version - 1` (0: absent). */
  write(record: KeyRecord, entry: AuditEntry, told?: OutboxChange): Promise<void>;
  /**
   * Writes `record` as `write` does, puts `history` in place of all its history (one entry more than there is), and
   * forgets what an operator said of a ban.
   */
  rewrite(record: KeyRecord, history: readonly AuditEntry[]): Promise<void>;
  /** Up to `count` records with an id after `afterId`, by id; the whole list is a chain of such pages. */
  page(afterId: string | null, count: number): Promise<readonly KeyRecord[]>;
  history(id: string): Promise<readonly AuditEntry[]>;
  readonly imports: ImportStore;
}

/** A key that is to be there, with the first line of its history. Its version is 1. */
export interface IncomingKey {
  readonly record: KeyRecord;
  readonly entry: AuditEntry;
}

/** `present`: a key has this id. `repeated`: this import brought the id before. Neither changes anything. */
export type Staging = 'staged' | 'present' | 'repeated';

/** The one import there is. `abandoned`: whoever ran it was silent for long. */
export interface ImportUnderWay {
  readonly id: string;
  readonly phase: 'staging' | 'committed' | 'dropping';
  readonly abandoned: boolean;
}

/** How long an import may be silent. Nothing it sent before can take effect later than this. */
export const IMPORT_LEASE_MS = 10_000;

/**
 * Many keys brought in as one step. They are staged where neither an admission nor a reader sees them;
 * `commit` is a single write, and with it all are good on the next admission of every gateway. Moving
 * them to their final place comes after and changes nothing: anybody may do it, any number of times.
 */
export interface ImportStore {
  read(): Promise<ImportUnderWay | undefined>;
  /** Begins the import `importId`. When there is another, it stays, and is the answer. */
  open(importId: string): Promise<ImportUnderWay | undefined>;
  /** Rejects with ImportLost. */
  stage(importId: string, keys: readonly IncomingKey[]): Promise<readonly Staging[]>;
  /** Rejects with ImportLost. */
  commit(importId: string): Promise<void>;
  /** Moves the keys of a committed import to their place and ends it. Does nothing for any other. */
  settle(importId: string): Promise<void>;
  /** Forgets all of an import that isn't committed: one's own, or an abandoned one. Does nothing for any other. */
  drop(importId: string, whose: 'own' | 'abandoned'): Promise<void>;
}

/** How many bans are in force. */
export interface BansInForce {
  readonly keys: number;
  readonly addresses: number;
}

export interface BanStore {
  read(keyId: string): Promise<Ban | undefined>;
  /** Bans now until `untilMs`, level 1, and writes the event that says so in the same step; also when one is in force already. */
  start(keyId: string, untilMs: number, note?: BanNote, event?: GatewayEvent): Promise<void>;
  /** Ends the ban and forgets strikes and level. False when there was none. */
  lift(keyId: string): Promise<boolean>;
  /** For a gauge: cheap however many keys there are, and without a promise that none is missing after a crash. */
  inForce(): Promise<BansInForce>;
}

export interface UsageStore {
  /**
   * Rows of the days `from` to `to` (both included, `2026-11-21`): keys in the order of their ids, all of a key
   * together and by day, a small batch at a time. Reading gives way to admissions. With `keyId` that key's alone; with
   * `after` only those of keys behind it, where the store can begin there.
   */
  rows(from: string, to: string, keyId?: string, after?: string): AsyncIterable<readonly UsageRow[]>;
}

/** Which days of the ledger are final, as far as the store knows. */
export interface DayStore {
  /** @param nowMs store time */
  finality(nowMs: number): Promise<Finality>;
  /** Waits no longer for the counts of a gateway. False when none of that id is known. */
  giveUp(gateway: string): Promise<boolean>;
}

/** Whether a shared store is still the one that it was. */
export interface StoreTrust {
  /** Why it is not believed, and what to do; null while nothing speaks against it. While it is not, it counts as away. */
  replaced(): string | null;
  /** Takes it as it is from now on. Gives its id. */
  accept(): Promise<string>;
  /** Why it may drop data, and what to do, as the last check found; null where it does not, or somebody accepted that. */
  evicts(): string | null;
  /** Keys that it dropped so far. */
  evictedKeys(): number;
}

/** Local decisions while the shared store is away. */
export interface Failover {
  /** Why the shared store is away, for people; null while it decides. */
  degraded(): string | null;
  /** Whether any key can be decided meanwhile: one that was met within 24 hours. */
  knowsKeys(): boolean;
  /** Gateways that share each limit meanwhile. */
  gateways(): number;
  /** Requests counted here that the shared ledger does not have yet, as last counted. */
  spooled(): number;
  /** While the shared store is away what was counted here, else the shared ledger. */
  readonly ownUsage: UsageStore;
}

/**
 * One admission engine. Both engines pass `test/conformance`.
 * Every call rejects with StoreUnavailable within the deadline when the store is away.
 */
export interface AdmissionEngine extends Decider {
  readonly name: 'redis' | 'embedded';
  /** Counts 5xx ends of admitted requests, each credit once however often it is offered. When some are not in the ledger, the error's `taken` are those that are. */
  fail(credits: readonly Credit[]): Promise<void>;
  readonly keys: KeyStore;
  readonly customers: CustomerStore;
  readonly tokens: TokenStore;
  readonly outbox: Outbox;
  readonly bans: BanStore;
  readonly usage: UsageStore;
  readonly days: DayStore;
  /** How the engine fares that decides here while the shared store is away; absent where there is none. */
  readonly failover?: Failover;
  /** Absent where the store is not shared. */
  readonly trust?: StoreTrust;
  /** How often files of this process failed and were opened anew; absent where there are none. */
  readonly reopenings?: () => number;
  /** Proves the store can decide now, by running the real admission with cost 0. */
  check(): Promise<void>;
  close(): Promise<void>;
}
