import type { Redis } from 'ioredis';
import { StoreUnavailable } from '../../../admission/port.js';
import { ChangeUncertain } from '../../records/conflicts.js';
import type { Link } from './link.js';
import { waitName } from '../keyspace/names.js';

export interface ReplicaOptions {
  /** How many replicas must have a change before it is acknowledged; `auto`: all that are connected. */
  readonly replicas: number | 'auto';
  /** How long they may take, ms. */
  readonly waitMs: number;
}

/** For this long after its last replica disconnected, a node still needs one: that replica may become the master. */
const MISSED_MS = 3_600_000;
const UNCERTAIN =
  'The change was made on the Redis master, but too few replicas confirmed it in time: a failover may undo it. ' +
  'Check replication (INFO replication), then look at the key and repeat the change; repeating it is harmless.';

/** Makes changes that survive a failover: acknowledges each once replicas have it (WAIT). */
export class Replicas {
  readonly #link: Link;
  readonly #options: ReplicaOptions;
  /** Until when a node is known to have replicas, by its replication ID. */
  readonly #knownUntilMs = new Map<string, number>();

  constructor(link: Link, options: ReplicaOptions) {
    this.#link = link;
    this.#options = options;
  }

  /** Remembers whether the node of `key` has replicas now. */
  async check(key: string): Promise<void> {
    if (this.#options.replicas === 'auto') this.#wanted(await this.#link.infoOf(key, 'replication'));
  }

  /**
   * Makes `change`, which writes to the node of `key`, and waits for its replicas. WAIT would block everything after it
   * on its connection, so it gets a separate one; a write there before the WAIT covers all earlier writes to that node.
   * Rejects with ChangeUncertain, with StoreUnavailable, or as `change` does.
   */
  async confirmed<T>(key: string, change: () => Promise<T>): Promise<T> {
    if (this.#options.replicas === 0) return change();
    const before = await this.#link.infoOf(key, 'replication');
    const wanted = this.#wanted(before);
    if (wanted === 0) return change();
    const witness = this.#link.dial(key);
    if (witness === undefined) throw noConnection();
    try {
      await witness.connect().catch(() => Promise.reject(noConnection()));
      const answer = await change();
      if (!(await this.#haveIt(witness, key, wanted, replicationId(before)))) throw new ChangeUncertain(UNCERTAIN);
      return answer;
    } finally {
      witness.disconnect();
    }
  }

  /** Returns whether `wanted` replicas of the same master (`id`) have everything written so far. */
  async #haveIt(witness: Redis, key: string, wanted: number, id: string): Promise<boolean> {
    const { waitMs } = this.#options;
    const given = setTimeout(() => witness.disconnect(), waitMs + GRACE_MS);
    try {
      const [, have, info] = await Promise.all([
        witness.call('SET', waitName(key), '1', 'PX', '1'),
        witness.call('WAIT', wanted.toString(), waitMs.toString()),
        witness.call('INFO', 'replication'),
      ]);
      return Number(have) >= wanted && replicationId(String(info)) === id;
    } catch {
      return false;
    } finally {
      clearTimeout(given);
    }
  }

  #wanted(info: string): number {
    const { replicas } = this.#options;
    if (replicas !== 'auto') return replicas;
    const [id, nowMs] = [replicationId(info), performance.now()];
    const connected = Number(/^connected_slaves:(\d+)/m.exec(info)?.[1] ?? 0);
    if (connected > 0) this.#knownUntilMs.set(id, nowMs + MISSED_MS);
    return Math.max(connected, nowMs < (this.#knownUntilMs.get(id) ?? 0) ? 1 : 0);
  }
}

/** Time for the round trip to Redis, in addition to the replicas' time. */
const GRACE_MS = 1_000;

/** Returns the replication ID, which identifies a master and its data, and changes with a failover. */
function replicationId(info: string): string {
  return /^master_replid:(\w+)/m.exec(info)?.[1] ?? '';
}

function noConnection(): StoreUnavailable {
  return new StoreUnavailable('the store is unavailable: no connection to Redis', { noEffect: true });
}
