import type { AdminToken, TokenStore } from '../../records/admin-token.js';
import type { Link } from '../link/link.js';
import type { Replicas } from '../link/replicas.js';
import { TOKENS } from '../keyspace/names.js';

export function tokenStore(link: Link, replicas: Replicas): TokenStore {
  return {
    async read(id) {
      const stored = (await link.command('hget', TOKENS, id)) as Buffer | null;
      return stored === null ? undefined : (JSON.parse(stored.toString()) as AdminToken);
    },
    async list() {
      const stored = await link.hash(TOKENS);
      return [...stored.keys()].sort().map((id) => JSON.parse(stored.get(id)!) as AdminToken);
    },
    async add(token) {
      await replicas.confirmed(TOKENS, () => link.command('hset', TOKENS, token.id, JSON.stringify(token)));
    },
    async remove(id) {
      return Number(await replicas.confirmed(TOKENS, () => link.command('hdel', TOKENS, id))) === 1;
    },
  };
}
