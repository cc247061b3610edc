import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyRegistry } from '../../../src/gateway/accounts/keys/registry.js';
import type { Plan, Plans } from '../../../src/gateway/admission/plan.js';
import { knownStoreIn, readOnly } from '../../../src/gateway/store/known-store.js';
import type { LedgerStore } from '../../../src/gateway/store/ledger.js';
import { openEngine, openRedisLedger, type Engine } from '../../../src/gateway/config/open-store.js';
import { openRedisEngine } from '../../../src/gateway/store/redis/engine.js';
import type { SpooledKey } from '../../../src/gateway/store/redis/spool.js';
import type { Archive } from '../../../src/gateway/usage/archive/archive.js';
import { moveDays } from '../../../src/gateway/usage/archive/move.js';
import {
  archivedRows,
  archivedStore,
  openArchive,
  type LedgerSettings,
} from '../../../src/gateway/usage/archive/ledger.js';
import { createLog } from '../../../src/shared/log.js';
import { NO_BAN } from '../../gateway/admission/ban.js';
import { emptyFolder } from './model.js';

/** Requests a day: few enough that some are refused. */
export const DAY_LIMIT = 300;
const plan = (name: string): [string, Plan] => [
  name,
  { name, limits: { minute: 1_000_000, day: DAY_LIMIT }, refill: 'interval', ban: NO_BAN },
];
const PLANS: Plans = new Map([plan('narrow'), plan('anonymous')]);
const LOG = createLog('bills', 'silent');
/** An outage takes so long to be seen. */
const DEADLINE_MS = 800;
/** Of processes of their own: a busy machine must not fail them. */
const PATIENT_MS = 10_000;
const DAY_MS = 86_400_000;

/** A gateway in this process: what its admin routes and its archive task do, without HTTP. */
export class Gateway {
  /** Names it, and what it counts by itself. */
  readonly name: string;
  readonly settings: LedgerSettings;
  /** What its data folder must hold of what it counted by itself. */
  folder = emptyFolder();
  starts = 0;
  engine: Engine;
  registry: KeyRegistry;

  /** @param redisUrl null: an embedded store */
  constructor(name: string, redisUrl: string | null, archive: string | null) {
    this.name = name;
    this.settings = {
      data: mkdtempSync(join(tmpdir(), 'petgate-bills-')),
      store: {
        ...{ redis: redisUrl ?? undefined, archive, deadline: DEADLINE_MS, usage: 100, archive_after: 40 },
        ...{ final_after: 7 * DAY_MS, map_size: 2 ** 26, on_failure: 'local', gateways: 2, eviction: 'refuse' },
        // What a failover may lose is what this is about.
        ...{ replicas: 0, replica_wait: 100 },
      },
    };
    [this.engine, this.registry] = this.#open();
  }

  /** As a process has them that reads or archives. */
  ledgerSettings(deadlineMs = PATIENT_MS): LedgerSettings {
    const { data, store } = this.settings;
    return { data, store: { ...store, deadline: deadlineMs } };
  }

  /** Whether Redis decides. */
  isUp(): boolean {
    return (this.engine.failover?.degraded() ?? null) === null;
  }

  /** Whether it knows that Redis is not what it was. */
  isDistrusting(): boolean {
    return (this.engine.trust?.replaced() ?? null) !== null;
  }

  /** Ends, and starts again. @param between what is done to its folder meanwhile */
  async restart(between: (folder: string) => void = () => undefined): Promise<void> {
    await this.engine.close();
    between(this.settings.data);
    this.starts += 1;
    [this.engine, this.registry] = this.#open();
  }

  /** What the process does that archives. Rejects with the error that it is refused with. */
  async withArchive(work: (store: LedgerStore, archive: Archive) => Promise<unknown>): Promise<void> {
    const settings = this.ledgerSettings();
    const store = openRedisLedger(settings);
    const archive = await openArchive(settings);
    try {
      await work(store, archive!);
    } finally {
      await Promise.all([store.close(), archive?.close()]);
    }
  }

  /** Moves what is due. @param onMoved told of each day */
  archiveDays(onMoved: (day: string) => void): Promise<void> {
    return this.withArchive(async (store, archive) => {
      await archive.pause(0);
      await moveDays(store, archive, this.settings.store, onMoved);
    });
  }

  /** Brings what a gateway that was cut off counted, under a name of its own. */
  async take(spoolId: string, spooled: SpooledKey): Promise<void> {
    const { data, store } = this.settings;
    const options = { url: store.redis!, deadlineMs: PATIENT_MS, plans: PLANS, usageDays: store.usage };
    const redis = openRedisEngine({ ...options, known: readOnly(knownStoreIn(data)) });
    try {
      await redis.fleet.take(spoolId, spooled);
    } finally {
      await redis.close();
    }
  }

  async close(): Promise<void> {
    await this.engine.close();
    rmSync(this.settings.data, { recursive: true, force: true });
  }

  #open(): [Engine, KeyRegistry] {
    const { settings } = this;
    const whole = { ...settings, plans: PLANS, environment: 'staging', events: undefined } as const;
    const engine = openEngine(whole, LOG, archivedStore(settings), archivedRows(settings));
    const rules = { scopes: [], costs: new Map<string, number>(), environment: 'staging', acceptImported: true };
    return [engine, new KeyRegistry({ engine, plans: () => PLANS, ...rules })];
  }
}
