/** What the peers of Node share: the look-up of a key in Redis, and what stands in their answers. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';

const { UPSTREAM_PORT, REDIS_PORT, TLS_CERT, TLS_KEY } = process.env;
export const upstreamUrl = `http://127.0.0.1:${UPSTREAM_PORT}`;
export const INTERNAL_TOKEN = 'Bearer internal-token-of-the-bench';
export const redis = new Redis({ host: '127.0.0.1', port: Number(REDIS_PORT), enableAutoPipelining: true });
/** Certificate and key where TLS is wanted. */
export const tls = TLS_CERT === undefined ? undefined : { cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) };

export const ONE_MINUTE_MS = 60_000;
export const ONE_DAY_MS = 86_400_000;

export const UNAUTHORIZED = { code: 'invalid_api_key', message: 'This key is not known.', status: 401 };
export const LIMITED = { code: 'rate_limited', message: 'The rate limit of this plan is reached.', status: 429 };

/** The key of an Authorization field: `{id, plan, minute, day}`, or undefined. */
export async function keyOf(authorization) {
  if (authorization === undefined || !authorization.startsWith('Bearer ')) return undefined;
  const hash = createHash('sha256').update(authorization.slice(7)).digest();
  const [id, plan, minute, day] = await redis.hmget(
    Buffer.concat([Buffer.from('bench:key:'), hash]),
    'id',
    'plan',
    'minute',
    'day',
  );
  return id === null ? undefined : { id, plan, minute: Number(minute), day: Number(day) };
}

/** Fields the upstream gets instead of the client's Authorization. */
export const upstreamFields = (key) => ({
  authorization: INTERNAL_TOKEN,
  'x-petgate-key-id': key.id,
  'x-petgate-plan': key.plan,
});

/** Tells the bench where it listens, and ends with it. */
export function serving(server) {
  process.send(server.address().port);
  process.on('disconnect', () => process.exit());
}
