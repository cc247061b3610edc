import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { RedisServer } from './redis.js';
import { until } from './until.js';

const MIGRATE_MS = 5_000;

/** Marks a slot as on its way from one master to another, and moves none of its names. */
export async function openMove(slot: number, from: RedisServer, to: RedisServer): Promise<void> {
  const [fromId, toId] = [await from.command('CLUSTER', 'MYID'), await to.command('CLUSTER', 'MYID')].map(String);
  await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId!);
  await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId!);
}

/**
 * Moves one name of a slot that is on its way. Rejects when MIGRATE does, with BUSYKEY for instance.
 * A target that was just restarted or thawed may take the Cluster for down for a moment: it is asked again.
 */
export async function moveName(name: string, from: RedisServer, to: RedisServer): Promise<void> {
  await until('the target knows that the Cluster is up', async () => {
    try {
      await from.command('MIGRATE', '127.0.0.1', to.port, '', 0, MIGRATE_MS, 'KEYS', name);
      return true;
    } catch (error) {
      if (error instanceof Error && error.message.includes('CLUSTERDOWN')) return false;
      throw error;
    }
  });
}

/**
 * Moves one slot as `redis-cli --cluster reshard` does, but name by name, with `pause` before each.
 * Rejects when a MIGRATE does, with BUSYKEY for instance. Gives how many names went.
 */
export async function moveSlot(
  masters: readonly RedisServer[],
  slot: number,
  from: RedisServer,
  to: RedisServer,
  pause: () => Promise<unknown>,
): Promise<number> {
  const toId = String(await to.command('CLUSTER', 'MYID'));
  await openMove(slot, from, to);
  let moved = 0;
  for (;;) {
    await pause();
    const [name] = (await from.command('CLUSTER', 'GETKEYSINSLOT', slot, 1)) as string[];
    if (name === undefined) break;
    await moveName(name, from, to);
    moved += 1;
  }
  const others = masters.filter((node) => node !== to && node !== from);
  for (const node of [to, from, ...others]) await node.command('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
  return moved;
}

/**
 * Moves the `count` lowest slots of a node with redis-cli itself, and waits until all masters agree who has which slot:
 * a slot that moves back before the epoch of its first move is known everywhere may be claimed by both, for ever.
 * Rejects with what redis-cli said when it failed.
 */
export async function reshard(
  masters: readonly RedisServer[],
  from: RedisServer,
  to: RedisServer,
  count: number,
): Promise<void> {
  const [fromId, toId] = [await from.command('CLUSTER', 'MYID'), await to.command('CLUSTER', 'MYID')].map(String);
  const args = ['--cluster', 'reshard', `127.0.0.1:${from.port}`, '--cluster-from', fromId!, '--cluster-to', toId!];
  await promisify(execFile)('redis-cli', [...args, '--cluster-slots', count.toString(), '--cluster-yes']);
  await until('all masters agree who has which slot', async () => {
    const views = await Promise.all(masters.map(ownersSeenBy));
    return views.every((view) => view === views[0]);
  });
}

/** Gives id, epoch and slots of every master, as this node knows them. */
async function ownersSeenBy(node: RedisServer): Promise<string> {
  const lines = String(await node.command('CLUSTER', 'NODES'))
    .trim()
    .split('\n');
  const masters = lines.map((line) => line.split(' ')).filter(([, , flags]) => flags!.includes('master'));
  return masters
    .map(([id, , , , , , epoch, , ...slots]) => [id, epoch, ...slots].join(' '))
    .sort()
    .join('\n');
}
