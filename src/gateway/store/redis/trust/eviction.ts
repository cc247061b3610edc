import { once } from 'node:events';
import type { Log } from '../../../../shared/log.js';
import { StoreUnavailable } from '../../../admission/port.js';
import type { StoreTrust } from '../../port.js';
import { connect, isCluster } from '../link/connect.js';
import { codeOf, reasonOf } from '../link/errors.js';
import type { Link } from '../link/link.js';
import { parseRedisUrl } from '../link/url.js';
import { STORE } from '../keyspace/names.js';

/** Interval between checks of Redis. */
const CHECK_EVERY_MS = 2_000;
/** Prefix of policies that also drop data without expiry. */
const ALL_KEYS = ' allkeys-';
/** Deadline of `stateOf`. */
const PATIENCE_MS = 5_000;

/**
 * Whether Redis drops data when its memory is full: only what expires, such as the ledger, or anything. Reads it from
 * INFO, because managed services refuse CONFIG GET.
 */
export interface Eviction extends Pick<StoreTrust, 'evicts' | 'evictedKeys'> {
  /**
   * Rejects with StoreUnavailable if the node of `name` may drop data without expiry, such as the records of keys: then
   * it may have had a key that it does not know. Asks each time, because the policy may change at any moment.
   */
  vouch(name: string): Promise<void>;
  /** Checks all nodes that respond, unless that was just done. Rejects with StoreUnavailable until one has. */
  check(): Promise<void>;
}

export function evictionOf(link: Pick<Link, 'info' | 'infoOf'>, isAccepted: boolean, log: Log | undefined): Eviction {
  let found: string | null | undefined;
  let [evictedKeys, checkedAtMs] = [0, -Infinity];
  return {
    evicts: () => (isAccepted ? null : found),
    evictedKeys: () => evictedKeys,
    async vouch(name) {
      if (isAccepted) return;
      const reason = reasonIn(await link.infoOf(name, 'memory'));
      if (reason?.includes(ALL_KEYS) === true) throw new StoreUnavailable(`Redis may have dropped the key: ${reason}`);
    },
    async check() {
      if (performance.now() < checkedAtMs) return;
      const infos = await link.info('memory', 'stats');
      if (infos.length === 0) {
        if (found !== undefined) return;
        throw new StoreUnavailable('it did not tell in time whether it drops data (INFO)');
      }
      checkedAtMs = performance.now() + CHECK_EVERY_MS;
      const before = found;
      found = infos.map(reasonIn).find((reason) => reason !== null) ?? null;
      evictedKeys = infos.reduce((sum, info) => sum + Number(fieldIn(info, 'evicted_keys') ?? 0), 0);
      if (found === null || found === before) return;
      if (isAccepted) log?.warn({ reason: found }, 'Redis may drop data, as store.eviction accepts');
      else log?.error({ reason: found }, 'Redis may drop data');
    },
  };
}

/** What a Redis that is asked once reports. */
interface RedisState {
  /** Why data may be dropped; null if it is not. */
  readonly evicts: string | null;
  /** Whether a gateway has used it: then it has an ID. */
  readonly isUsed: boolean;
}

/** Asks a Redis once, and writes nothing. Rejects with StoreUnavailable. */
export async function stateOf(url: string, deadlineMs: number): Promise<RedisState> {
  const client = connect(parseRedisUrl(url), deadlineMs);
  let lastError: string | undefined;
  client.on('error', (error: unknown) => (lastError = codeOf(error)));
  try {
    await once(client, 'ready', { signal: AbortSignal.timeout(PATIENCE_MS) });
    const nodes = isCluster(client) ? client.nodes('master') : [client];
    const infos = await Promise.all(nodes.map((node) => node.call('info', 'memory', 'stats')));
    const evicts = infos.map((info) => reasonIn(String(info))).find((reason) => reason !== null) ?? null;
    return { evicts, isUsed: (await client.hmget(STORE, 'id'))[0] !== null };
  } catch (error) {
    throw new StoreUnavailable(reasonOf(error, lastError));
  } finally {
    client.disconnect();
  }
}

function reasonIn(info: string): string | null {
  const policy = fieldIn(info, 'maxmemory_policy');
  if (policy === undefined || policy === 'noeviction' || Number(fieldIn(info, 'maxmemory') ?? 0) === 0) return null;
  return (
    `its maxmemory-policy is ${policy}, so that it drops keys, bans and counts when its memory is full: set ` +
    'noeviction, or store.eviction to accept'
  );
}

function fieldIn(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
}
