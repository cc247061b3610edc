import type { TokenStore } from './records/admin-token.js';
import type { CustomerStore } from './records/customer.js';
import type { Outbox } from './outbox/event.js';
import type { Ban, KeyStore } from './records/key.js';
import type { SessionSecret } from './records/session-secret.js';
import type { Finality } from './finality.js';
import type { UsageRow } from './records/counts.js';
import type { LedgerTransfer } from './ledger.js';
import type { Decider } from '../admission/port.js';
import type { Lease } from '../admission/leases.js';
import type { HeldFrom } from '../admission/settlement.js';

/** How an admitted request ended, if that changes what was counted. The day is that of the admission, store ms. */
export interface EndedRequest {
  readonly keyId: string;
  readonly plan: string;
  readonly operation: string;
  readonly admittedAtMs: number;
  /** With a 5xx. */
  readonly isFailed: boolean;
  /** This gateway admitted it in outage mode; otherwise absent. */
  readonly isLocal?: true | undefined;
  /** The lease that ends with it; absent without one. */
  readonly lease?: number | undefined;
  /** Absent if it cost what was charged. */
  readonly settlement?: Settlement | undefined;
}

/** The difference between a hold and what the response cost. */
export interface Settlement {
  /** What it cost beyond the hold; below 0, what comes back. */
  readonly units: number;
  readonly windows: readonly HeldFrom[];
}

/**
 * Ended requests of one key and UTC day, sent under one name until the store has accepted them: sending a report again
 * is harmless. Its content never changes, and the next one of the same key, day and reporter waits until then.
 */
export interface SettlementReport {
  /** Random name of the counting process. */
  readonly reporter: string;
  /** Increases with each report of the reporter. */
  readonly number: number;
  readonly keyId: string;
  /** Days since 1970-01-01, UTC. */
  readonly day: number;
  readonly ended: readonly EndedRequest[];
}

/** The ban of an address: a dotted IPv4, or the first four groups of an IPv6 (its /64). */
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

/** How many bans are in force. */
export interface BansInForce {
  readonly keys: number;
  readonly addresses: number;
}

export interface BanStore {
  read(keyId: string): Promise<Ban | undefined>;
  /**
   * Bans of keys in force. A page may be short without being the last. An automatic ban may be missing if its gateway
   * died at that moment.
   */
  keys(cursor: string | null, count: number): Promise<BanPage<Ban>>;
  /** The same for addresses. */
  addresses(cursor: string | null, count: number): Promise<BanPage<AddressBan>>;
  /**
   * Ends the ban and resets strikes and level, of all addresses that share its row for lack of room. Resolves to false
   * if there was no ban.
   */
  liftAddress(address: string): Promise<boolean>;
  /** Counts for a gauge: cheap for any number of keys; some may be missing after a crash. */
  inForce(): Promise<BansInForce>;
}

export interface UsageStore {
  /**
   * Rows of the days `from` to `to` (inclusive, `2026-11-21`) in small batches: keys in the order of their IDs, each
   * key's rows together and by day. Admissions have priority. With `keyId` only that key's rows; with `after` only keys
   * after it, if the store can begin there.
   */
  rows(from: string, to: string, keyId?: string, after?: string): AsyncIterable<readonly UsageRow[]>;
}

/** Knows which days of the ledger are final. */
export interface DayStore {
  /** @param nowMs store time */
  finality(nowMs: number): Promise<Finality>;
  /** Stops waiting for the counts of a gateway. Resolves to false if the gateway is unknown. */
  giveUp(gateway: string): Promise<boolean>;
}

/** Checks that the shared store is still the same, with its data. */
export interface StoreTrust {
  /**
   * Returns why it is not trusted, and what to do; null if it is. An untrusted store counts as unavailable.
   */
  replaced(): string | null;
  /**
   * Accepts it as it is, after writing back newer local copies. Resolves to its ID.
   * @param isForced also accepts a store of another environment, and moves it to this gateway's
   */
  accept(isForced?: boolean): Promise<string>;
  /**
   * Returns why it may evict data, and what to do, as of the last check; null if it does not, or if that was accepted;
   * undefined before the first check.
   */
  evicts(): string | null | undefined;
  /** Keys evicted so far. */
  evictedKeys(): number;
}

/** What a gateway runs: its version, and short hashes without secrets. */
export interface Running {
  readonly version: string;
  readonly settings: string;
  readonly plans: string;
  readonly contract: string;
}

/** A gateway that reported to the store. Times are store ms. */
export interface SeenGateway {
  readonly gateway: string;
  readonly host: string;
  readonly seenMs: number;
  /** Null for a version that does not report it. */
  readonly running: Running | null;
}

/** Texts that gateways leave for each other; nothing depends on them. All calls reject with StoreUnavailable. */
export interface GatewayNotes {
  /** The ID of this gateway. */
  readonly own: string;
  /** Replaces this gateway's note of this name. @param keptMs how long the notes of this name are kept */
  write(name: string, text: string, keptMs: number): Promise<void>;
  /** Returns the notes of this name by the ID of their gateway, including this one and those that are gone. */
  read(name: string): Promise<ReadonlyMap<string, string>>;
}

/** Outage mode: local decisions while the shared store is unavailable. */
export interface Failover {
  /** Returns why the shared store is unavailable, for people; null while it is available. */
  degraded(): string | null;
  /** Returns whether there is a local copy of any key or customer. */
  knowsKeys(): boolean;
  /** Number of gateways that share each limit. */
  gateways(): number;
  /** The other gateways that reported to the store recently. */
  others(): Promise<readonly SeenGateway[]>;
  readonly notes: GatewayNotes;
  /** Reports to the others what runs here. */
  announce(running: () => Running): void;
  /** Requests counted here that the shared ledger does not have yet, as of the last count. */
  spooled(): number;
  /** While the shared store is unavailable, what was counted here; otherwise the shared ledger. */
  readonly ownUsage: UsageStore;
}

/**
 * One admission engine. Every call rejects with StoreUnavailable within the deadline if the store is unavailable.
 */
export interface AdmissionEngine extends Decider {
  readonly name: 'redis' | 'embedded';
  /**
   * Counts how admitted requests ended; each report once, however often it is sent. If some are not in the ledger, the
   * error says which are.
   */
  settle(reports: readonly SettlementReport[]): Promise<void>;
  /** Keeps these leases in force for `LEASE_MS`; those that had ended are in force again. */
  renew(leases: readonly Lease[]): Promise<void>;
  readonly keys: KeyStore;
  readonly customers: CustomerStore;
  readonly tokens: TokenStore;
  readonly sessionSecret: SessionSecret;
  readonly outbox: Outbox;
  readonly bans: BanStore;
  readonly usage: UsageStore;
  readonly transfer: LedgerTransfer;
  readonly days: DayStore;
  /** State of the outage engine; absent if there is none. */
  readonly failover?: Failover;
  /** Absent if the store is not shared. */
  readonly trust?: StoreTrust;
  /** Returns how often files failed and were reopened; absent without files. */
  readonly reopenings?: () => number;
  /** Proves that the store can decide now, with a real admission at cost 0. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The part of an engine that serves the public listener. Workers ask the process that owns the store. */
export type ServingEngine = Pick<
  AdmissionEngine,
  'name' | 'admit' | 'settle' | 'renew' | 'keys' | 'customers' | 'sessionSecret' | 'usage' | 'failover'
>;
