import type { Log } from '../../../shared/log.js';
import { DAY_MS } from '../../admission/bucket.js';
import type { ArchivedRows, LedgerStore } from '../ledger.js';
import type { Plans } from '../../admission/plan.js';
import { StoreUnavailable } from '../../admission/port.js';
import type { AdmissionEngine, StoreTrust } from '../port.js';
import type { KeyStore, KeyRecord } from '../records/key.js';
import { knownStoreInMemory, type KnownStore } from '../known-store.js';
import { admit, editionOf, probeOf } from './admit/admit.js';
import { confirmUnknown, isUnknown } from './trust/doubt.js';
import { bansOf, noteStarted } from './records/bans.js';
import { customerStore } from './records/customers.js';
import { connect } from './link/connect.js';
import { renew } from './admit/renew.js';
import { settle } from './ledger/settle.js';
import { PendingEvents } from './outbox/pending.js';
import { outboxOf } from './outbox/outbox.js';
import { dayStore, fleetOf, type Fleet } from './gateways.js';
import { keyStore } from './records/keys.js';
import { Link } from './link/link.js';
import { accountName, subjectName } from './keyspace/names.js';
import type { Probe } from './link/script.js';
import type { CustomerRecord, CustomerStore } from '../records/customer.js';
import type { Overtaking } from '../records/record-store.js';
import { Replicas, type ReplicaOptions } from './link/replicas.js';
import { sessionSecret } from './records/session-secret.js';
import { tokenStore } from './records/tokens.js';
import { evictionOf } from './trust/eviction.js';
import { parseRedisUrl } from './link/url.js';
import { ledgerStore } from './ledger/moved-days.js';
import { ledgerTransferOf, raiseOf } from './ledger/transfer.js';
import { usageStore } from './ledger/usage.js';

const FINAL_AFTER_MS = 7 * DAY_MS;

export interface RedisEngineOptions {
  /** Forms: see link/url.ts. */
  readonly url: string;
  /** Deadline of a call, and how long Redis may be silent before it counts as unavailable. */
  readonly deadlineMs: number;
  readonly plans: Plans;
  /** Days to keep the usage ledger. */
  readonly usageDays: number;
  /** How long to wait for the days of a silent gateway; default 7 days. */
  readonly finalAfterMs?: number;
  readonly log?: Log;
  /** The store used before; by default remembered until the process ends. Null accepts any. */
  readonly known?: KnownStore | null;
  /** The gateway's environment; stores of others are refused. By default any store is used. */
  readonly environment?: string;
  /** Reads the archive; without it, an import that needs it is refused. */
  readonly archivedRows?: ArchivedRows | undefined;
  /** Whether an operator accepted that Redis may drop data. */
  readonly eviction?: 'accept' | 'refuse';
  /** Which replicas must have a change of a key or a ban; default: all that are connected, within a second. */
  readonly replicas?: ReplicaOptions;
  /** Whether crossings and bans are emitted as events; default false. */
  readonly events?: boolean;
}

export interface RedisEngine extends AdmissionEngine {
  readonly keys: KeyStore & Overtaking<KeyRecord>;
  readonly customers: CustomerStore & Overtaking<CustomerRecord>;
  readonly trust: StoreTrust;
  /** The last known time of the store's clock, also while it is unavailable; undefined before the first response. */
  readonly nowMs: () => number | undefined;
  /** What is known here about a store that was restored to an older state. */
  readonly restored: {
    /** How often the connection to a node was lost: it may be in an older state afterwards. */
    readonly losses: () => number;
    /** Reports a record older than before: its node counts as unavailable until an operator accepts it. */
    doubt(id: string): Promise<void>;
    /** Registers `writeBack`, called before such a store is trusted, with an engine that accepts any store. */
    writeBackBy(writeBack: (engine: RedisEngine) => Promise<void>): void;
  };
  /** The ledger, to be moved into the archive. */
  readonly ledger: LedgerStore;
  /** Applies other plans from the next batch on. */
  setPlans(plans: Plans): void;
  /** Why Redis rejects these plans; null if it does not. */
  refusal(plans: Plans): Promise<string | null>;
  /** Why it cannot decide, or in a Cluster, not everything; null while it can. A stall does not count. */
  readonly unavailable: string | null;
  /** Calls `watcher` when `unavailable` may have changed. */
  watch(watcher: () => void): void;
  /** Whether there are several nodes, some of which may be unavailable while others decide. */
  readonly cluster: boolean;
  readonly fleet: Fleet;
}

/**
 * The engine for several gateways: all decisions in Redis (7.0 or newer), on its clock.
 * Opens even while Redis is unavailable, and recovers automatically.
 * @throws Error when `url` has none of the forms of link/url.ts
 */
export function openRedisEngine(options: RedisEngineOptions): RedisEngine {
  const { url, deadlineMs, usageDays } = options;
  const { known = knownStoreInMemory(), environment = null, log } = options;
  const probe = (): Probe => probeOf(edition);
  const link = new Link(connect(parseRedisUrl(url), deadlineMs), { deadlineMs, probe, known, environment, log });
  const eviction = evictionOf(link, options.eviction === 'accept', log);
  const replicas = new Replicas(link, options.replicas ?? { replicas: 'auto', waitMs: 1_000 });
  const pending = new PendingEvents(link, replicas, deadlineMs);
  const inForce = (plans: Plans) => editionOf(plans, usageDays, options.events === true, (ids) => pending.add(ids));
  let edition = inForce(options.plans);
  const days = dayStore(link, options.finalAfterMs ?? FINAL_AFTER_MS, usageDays);
  const raise = raiseOf(link, usageDays, options.archivedRows);
  const keys = keyStore(link, replicas, pending, raise);
  const customers = customerStore(link, replicas, raise);
  const ledger = ledgerStore(link, days, usageDays, { keys, customers }, () => link.close());
  const checked = subjectName({ kind: 'address', address: 'check' });
  return {
    name: 'redis',
    async admit(requests) {
      const verdicts = await admit(link, edition, requests).catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable) || !error.decided.some(isUnknown)) throw error;
        return confirmUnknown(link, eviction, requests, error.decided, error);
      });
      noteStarted(link, requests, verdicts);
      return verdicts.some(isUnknown) ? confirmUnknown(link, eviction, requests, verdicts) : verdicts;
    },
    settle: (reports) => settle(link, reports, usageDays),
    renew: (leases) => renew(link, leases),
    ...{ keys, customers, days, ledger },
    outbox: outboxOf(link, pending),
    tokens: tokenStore(link, replicas),
    sessionSecret: sessionSecret(link, replicas),
    bans: bansOf(link, replicas),
    usage: usageStore(link),
    transfer: ledgerTransferOf(link, ledger, raise, usageDays),
    check: async () => {
      await link.check(checked);
      await eviction.check();
      await replicas.check(checked);
    },
    close: async () => {
      pending.close();
      await link.close();
    },
    get unavailable() {
      return link.healths.unavailable;
    },
    trust: {
      replaced: () => link.healths.distrust,
      accept: (isForced = false) => link.accept(isForced),
      evicts: () => eviction.evicts(),
      evictedKeys: () => eviction.evictedKeys(),
    },
    nowMs: () => link.healths.storeMs(performance.now()),
    restored: restoredOf(link, options),
    watch: (watcher) => void (link.healths.watcher = watcher),
    cluster: link.cluster,
    fleet: fleetOf(link, usageDays, (keyId) => pending.add([keyId])),
    setPlans: (plans) => void (edition = inForce(plans)),
    async refusal(plans) {
      const next = probeOf(inForce(plans));
      return next.script.sha === edition.script.sha ? null : link.tryOut(next, checked);
    },
  };
}

function restoredOf(link: Link, options: RedisEngineOptions): RedisEngine['restored'] {
  return {
    losses: () => link.losses,
    doubt: (id) => link.doubt(accountName(id)),
    writeBackBy: (writeBack) => {
      link.writeBack = async () => {
        const engine = openRedisEngine({ ...options, known: null });
        try {
          await writeBack(engine);
        } finally {
          await engine.close();
        }
      };
    },
  };
}
