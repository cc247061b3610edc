import type { Log } from '../../../shared/log.js';
import { repeat } from '../../../shared/turns/repeat.js';
import { SEPARATOR } from '../embedded/files/rows.js';
import { openStores } from '../embedded/owner/stores.js';
import type { RedisEngine } from '../redis/engine.js';
import type { AuditEntry, RecordStore, Snapshot, StoredRecord } from '../records/record.js';
import { WARN_AT, type Plans } from '../../admission/plan.js';
import { StoreUnavailable } from '../../admission/port.js';
import type { AdmissionEngine, Failover, Running } from '../port.js';
import { CachedKeyVerifier } from './verifier.js';
import { admitWithFallback, renewWithFallback, settleWithFallback } from './fallback.js';
import { KeyCache } from './key-cache.js';
import { maintain } from './maintenance.js';
import { localOn } from './local.js';
import { Metadata } from './metadata.js';
import { switchoverOf } from './switchover.js';
import { Spool } from './spool.js';

const REFRESH_EVERY_MS = 250;

export interface FailoverOptions {
  /** Decides while it is available. Closing this engine closes it too. */
  readonly redis: RedisEngine;
  /** Folder for local decisions; no other process opens it. */
  readonly folder: string;
  readonly mapBytes: number;
  readonly plans: Plans;
  /** Number of gateways that share each limit while Redis is unavailable; `auto`: as many as were last seen. */
  readonly gateways: number | 'auto';
  /** Deadline of each call to Redis. */
  readonly deadlineMs: number;
  /** Tests only: no background work. */
  readonly maintains?: false;
  /** Whether crossing a warning threshold emits an event; default false. */
  readonly events?: boolean;
  readonly log?: Log;
}

export type FailoverEngine = AdmissionEngine & {
  readonly failover: Failover;
  /** The local copy of a key or customer. */
  cached(id: string): ReturnType<KeyCache['read']>;
  setPlans(plans: Plans): void;
  refusal: RedisEngine['refusal'];
};

/**
 * The Redis engine. While Redis is unavailable, this gateway decides for keys seen within 24 hours, with its share of
 * each limit. A request that Redis may have decided is never decided again. Local counts reach Redis's ledger exactly
 * once, whatever crashes meanwhile. Throws StoreUnavailable if the folder cannot be used.
 */
export function openFailoverEngine(options: FailoverOptions): FailoverEngine {
  const { redis, log } = options;
  const parts = openParts(options);
  const { stores, keys, local, gateways, spool, verifier, id: own } = parts;
  /** An unavailable store is not an error of the gateway. */
  const onError = (error: unknown): void => {
    if (!(error instanceof StoreUnavailable)) log?.error({ err: error }, 'outage mode met a fault of the gateway');
  };
  const switchover = switchoverOf({ ...options, ...parts, onError });
  const isUnavailable = (): boolean => switchover.reason() !== null;
  const stopRefresh = repeat(REFRESH_EVERY_MS, () => (isUnavailable() ? Promise.resolve() : keys.refresh()), onError);
  let running = (): Running | null => null;
  const maintenance =
    options.maintains !== false
      ? maintain({ ...options, ...parts, running: () => running(), isUnavailable, onError })
      : undefined;
  const [keyStore, customers] = [following(redis.keys, keys), following(redis.customers, keys)];
  const { tokens, sessionSecret, outbox, bans, usage, transfer, days, trust } = redis;
  return {
    ...{ name: 'redis', keys: keyStore, customers, tokens, sessionSecret, outbox, bans, usage, transfer, days, trust },
    admit: admitWithFallback(redis, local, keys, isUnavailable, log),
    settle: settleWithFallback(redis, local, isUnavailable),
    renew: renewWithFallback(redis, local, isUnavailable),
    failover: {
      degraded: switchover.reason,
      knowsKeys: () => keys.knowsAny(),
      gateways,
      others: async () => (await redis.fleet.seen()).filter(({ gateway }) => gateway !== own),
      notes: redis.fleet.notes(own),
      announce: (what) => void (running = what),
      spooled: () => spool.pending,
      ownUsage: {
        rows: (from, to, keyId) => (isUnavailable() ? spool.usage(from, to, keyId) : usage.rows(from, to, keyId)),
      },
    },
    check: async () => {
      if (!isUnavailable()) {
        await redis.check().catch((error: unknown) => {
          if (!isUnavailable()) throw error;
        });
      }
      if (isUnavailable()) await local.engine.check();
    },
    reopenings: () => stores.reopenings,
    close: async () => {
      await Promise.all([stopRefresh(), switchover.stop()]);
      await maintenance?.stop();
      await redis.close();
      await local.engine.close();
    },
    cached: (id) => keys.read(id),
    refusal: (plans) => redis.refusal(plans),
    setPlans: (plans) => {
      redis.setPlans(plans);
      verifier.plans = plans;
    },
  };
}

/** Returns the store, which now also copies its changes here immediately: they survive a Redis that loses them. */
function following<R extends StoredRecord, Change, S extends RecordStore<R, Change>>(store: S, keys: KeyCache): S {
  const copied = async (write: Promise<void>, ids: readonly string[]): Promise<void> => {
    try {
      await write;
    } finally {
      await keys.changed(ids).catch(() => undefined);
    }
  };
  return {
    ...store,
    write: (record: R, ...rest: [AuditEntry, Change?]) =>
      record.version === 1 ? store.write(record, ...rest) : copied(store.write(record, ...rest), [record.id]),
    rewrite: (record: R, history: readonly AuditEntry[]) => copied(store.rewrite(record, history), [record.id]),
    restore: async (snapshots: readonly Snapshot<R>[]) => {
      try {
        return await store.restore(snapshots);
      } finally {
        await keys.older(snapshots.map(({ record }) => record.id)).catch(() => []);
      }
    },
  };
}

function openParts({ redis, folder, mapBytes, plans, gateways: configured, maintains, events, log }: FailoverOptions) {
  const stores = openStores({ folder, mapBytes, log });
  const metadata = new Metadata(stores);
  const aheadMs = metadata.aheadMs();
  const now = (): number => redis.nowMs() ?? Date.now() + aheadMs;
  const keys = new KeyCache(stores, redis, now);
  const id = maintains === false ? metadata.id() : metadata.begin();
  stores.counter = SEPARATOR + id;
  const gateways = (): number => (configured === 'auto' ? metadata.gateways() : configured);
  const verifier = new CachedKeyVerifier(keys, plans, gateways());
  const local = localOn(stores, keys, verifier, now);
  const spool = new Spool({
    ...{ stores, redis, verifier, now, usage: local.engine.usage },
    warnAt: (plan) => (events === true ? (verifier.plans.get(plan)?.warnAt ?? WARN_AT) : undefined),
  });
  return { stores, keys, metadata, id, gateways, verifier, local, spool };
}
