import type { RedisServer } from '../servers/redis.js';
import { until } from '../servers/until.js';

async function replicationOf(server: RedisServer): Promise<Map<string, string>> {
  const lines = String(await server.command('INFO', 'replication')).split('\r\n');
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}

/** The replica has all that the master had when this was called. */
export async function caughtUp(master: RedisServer, replica: RedisServer): Promise<void> {
  const offset = Number((await replicationOf(master)).get('master_repl_offset'));
  await until(
    'the replica has caught up',
    async () => {
      const there = await replicationOf(replica);
      return there.get('master_link_status') === 'up' && Number(there.get('slave_repl_offset')) >= offset;
    },
    60_000,
  );
}

/** From now on the replica hears nothing: it may not log in any more. */
export async function cutLink(replica: RedisServer): Promise<void> {
  await replica.command('CONFIG', 'SET', 'masterauth', 'not-the-password', 'masteruser', 'nobody');
  await replica.command('CLIENT', 'KILL', 'TYPE', 'master');
  await until('the link is cut', async () => (await replicationOf(replica)).get('master_link_status') === 'down');
}

export async function mendLink(replica: RedisServer): Promise<void> {
  await replica.command('CONFIG', 'SET', 'masterauth', '', 'masteruser', '');
}

/** Stops writes until the replica has all of them, as docs/guides/stores-and-outages.md says of a planned failover. */
export async function pauseWrites(master: RedisServer): Promise<void> {
  await master.command('CLIENT', 'PAUSE', 10_000, 'WRITE');
  await until('the replica has all', async () => {
    const info = await replicationOf(master);
    return info.get('slave0')?.includes(`offset=${info.get('master_repl_offset')},`) === true;
  });
}

/** Waits until a server follows its new master. */
export function follows(replica: RedisServer): Promise<void> {
  return until('the old master follows', async () => (await replicationOf(replica)).get('master_link_status') === 'up');
}
