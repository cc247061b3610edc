import { subjectName } from '../../../../src/gateway/store/redis/keyspace/names.js';
import type { RedisServer } from '../../../servers/redis.js';

const READ = "return struct.unpack('<d', redis.call('HGET', KEYS[1], ARGV[1]), 65) .. ''";
const END =
  "local state = redis.call('HGET', KEYS[1], ARGV[1]):sub(1, 64) .. struct.pack('<d', 0) " +
  "return redis.call('HSET', KEYS[1], ARGV[1], state)";

export function groupOf(address: string): string {
  return subjectName({ kind: 'address', address });
}

/** When nothing is remembered of an address any more. */
export async function rowEnd(server: RedisServer, address: string): Promise<number> {
  return Number(await server.command('EVAL', READ, 1, groupOf(address), address));
}

/** As if it were over, in the group of an address, what is remembered under this name. */
export async function endRow(server: RedisServer, address: string, name = address): Promise<void> {
  await server.command('EVAL', END, 1, groupOf(address), name);
}
