import { Redis } from 'ioredis';
import type { RedisServer } from '../../servers/redis.js';
import { PLANS, type BenchKey, type KeyKind } from './keys.js';

const AT_ONCE = 5_000;

/** Writes keys as the peers look them up: by the bytes of their SHA-256. */
export async function registerAtPeers(redis: RedisServer, keys: readonly BenchKey[], kind: KeyKind): Promise<void> {
  const client = new Redis(redis.url);
  const { minute, day } = PLANS[kind === 'unknown' ? 'roomy' : kind].limits;
  for (let from = 0; from < keys.length; from += AT_ONCE) {
    const pipeline = client.pipeline();
    for (const { id, hash } of keys.slice(from, from + AT_ONCE)) {
      pipeline.hset(Buffer.concat([Buffer.from('bench:key:'), Buffer.from(hash, 'base64url')]), {
        id,
        plan: kind,
        minute,
        day,
      });
    }
    await pipeline.exec();
  }
  client.disconnect();
}
