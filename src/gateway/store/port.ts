import type { TokenStore } from './records/admin-token.js';
import type { CustomerStore } from './records/customer.js';
import type { Outbox, OutboxChange } from './outbox/event.js';
import type { KeyRecord } from './records/key.js';
import type { RecordStore } from './records/record.js';
import type { SessionSecret } from './records/session-secret.js';
import type { Finality } from './finality.js';
import type { UsageRow } from './counts.js';
import type { LedgerTransfer } from './ledger.js';
import type { Decider } from '../admission/port.js';

export type { UsageCounts, UsageRow } from './counts.js';

/** An admitted request that ended in a 5xx. The day is that of the admission, store ms. */
export interface FailedRequest {
  readonly keyId: string;
  readonly plan: string;
  readonly operation: string;
  readonly admittedAtMs: number;
}

/**
 * Failures of one key and UTC day, offered under one name until the store has taken them: offering a failure report
 * again is harmless. Its content never changes, and the next of the same key, day and reporter waits until it is
 * accepted.
 */
export interface FailureReport {
  /** Random name of the process that counted. */
  readonly reporter: string;
  /** Grows with every failure report of the reporter. */
  readonly number: number;
  readonly keyId: string;
  /** Days since 1970-01-01, UTC. */
  readonly day: number;
  readonly failures: readonly FailedRequest[];
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

/** The ban of an address without a valid key: a dotted IPv4, or the first four groups of an IPv6 (its /64). */
export interface AddressBan {
  readonly address: string;
  readonly untilMs: number;
  readonly level: number;
}

export interface BanPage<B> {
  readonly bans: readonly B[];
  /** Where the next page begins; null after the last. */
  readonly cursor: string | null;
}

/** The change is made on the master, and no replica has confirmed it in time: a failover may undo it. */
export class ChangeUncertain extends Error {
  override readonly name = 'ChangeUncertain';
}

/** Somebody else changed the record since it was read, or it exists already. Read again and retry. */
export class VersionConflict extends Error {
  override readonly name = 'VersionConflict';
}

/**
 * What is written with a key in one step: events, and a ban by hand, which begins now at level 1, whatever is in force.
 * Null lifts the ban, and forgets strikes and level.
 */
export interface KeyChange extends OutboxChange {
  readonly ban?: Pick<Ban, 'untilMs' | 'note'> | null | undefined;
}
export type KeyStore = RecordStore<KeyRecord, KeyChange>;

/** How many bans are in force. */
export interface BansInForce {
  readonly keys: number;
  readonly addresses: number;
}

export interface BanStore {
  read(keyId: string): Promise<Ban | undefined>;
  /**
   * Bans of keys in force. A page may be short, and not be the last. One that began by itself, and whose gateway died
   * in that moment, may be missing.
   */
  keys(cursor: string | null, count: number): Promise<BanPage<Ban>>;
  /** The same of addresses. */
  addresses(cursor: string | null, count: number): Promise<BanPage<AddressBan>>;
  /**
   * Ends the ban, and forgets strikes and level; of addresses that share a row, for want of room, all are free. False
   * when there was none.
   */
  liftAddress(address: string): Promise<boolean>;
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
  /**
   * Why it is not believed, and what to do; null while nothing speaks against it. While it is not, it counts as
   * unavailable.
   */
  replaced(): string | null;
  /**
   * Takes it as it is from now on, after what is known better here was written back. Gives its id.
   * @param isForced also where it belongs to another environment: from now on to this gateway's
   */
  accept(isForced?: boolean): Promise<string>;
  /**
   * Why it may drop data, and what to do, as the last check found; null where it does not, or somebody accepted that.
   * Undefined until there was one.
   */
  evicts(): string | null | undefined;
  /** Keys that it dropped so far. */
  evictedKeys(): number;
}

/** What a gateway runs by: its version, and short hashes, which hold no secret. */
export interface Running {
  readonly version: string;
  readonly settings: string;
  readonly plans: string;
  readonly contract: string;
}

/** A gateway that said that it is there, store ms. */
export interface SeenGateway {
  readonly gateway: string;
  readonly host: string;
  readonly seenMs: number;
  /** Null of a version that does not say it. */
  readonly running: Running | null;
}

/** Local decisions while the shared store is unavailable. */
export interface Failover {
  /** Why the shared store is unavailable, for people; null while it decides. */
  degraded(): string | null;
  /** Whether any key can be decided meanwhile: one that was met within 24 hours. */
  knowsKeys(): boolean;
  /** Gateways that share each limit meanwhile. */
  gateways(): number;
  /** The other gateways of the store that were heard lately. */
  others(): Promise<readonly SeenGateway[]>;
  /** From now on they are told what runs here. */
  announce(running: () => Running): void;
  /** Requests counted here that the shared ledger does not have yet, as last counted. */
  spooled(): number;
  /** While the shared store is unavailable what was counted here, else the shared ledger. */
  readonly ownUsage: UsageStore;
}

/**
 * One admission engine. Both engines pass `test/conformance`.
 * Every call rejects with StoreUnavailable within the deadline when the store is unavailable.
 */
export interface AdmissionEngine extends Decider {
  readonly name: 'redis' | 'embedded';
  /**
   * Counts 5xx ends of admitted requests, each failure report once however often it is offered. When some are not in
   * the ledger, the error's `taken` are those that are.
   */
  fail(reports: readonly FailureReport[]): Promise<void>;
  readonly keys: KeyStore;
  readonly customers: CustomerStore;
  readonly tokens: TokenStore;
  readonly sessionSecret: SessionSecret;
  readonly outbox: Outbox;
  readonly bans: BanStore;
  readonly usage: UsageStore;
  readonly transfer: LedgerTransfer;
  readonly days: DayStore;
  /** How the engine fares that decides here while the shared store is unavailable; absent where there is none. */
  readonly failover?: Failover;
  /** Absent where the store is not shared. */
  readonly trust?: StoreTrust;
  /** How often files failed and were reopened; absent where there are none. */
  readonly reopenings?: () => number;
  /** Proves the store can decide now, by running the real admission with cost 0. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** What serving the public takes of an engine. A worker asks it of the process that owns the store. */
export type ServingEngine = Pick<
  AdmissionEngine,
  'name' | 'admit' | 'fail' | 'keys' | 'customers' | 'sessionSecret' | 'usage' | 'failover'
>;
