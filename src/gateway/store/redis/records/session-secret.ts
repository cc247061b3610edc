import { randomBytes } from 'node:crypto';
import { SESSION_SECRET_BYTES, type SessionSecret } from '../../records/session-secret.js';
import type { Link } from '../link/link.js';
import type { Replicas } from '../link/replicas.js';
import { endedSessionName, SESSION_SECRET } from '../keyspace/names.js';

export function sessionSecret(link: Link, replicas: Replicas): SessionSecret {
  return {
    async read() {
      const stored = (await link.command('get', SESSION_SECRET)) as Buffer | null;
      if (stored !== null) return stored;
      const made = randomBytes(SESSION_SECRET_BYTES);
      // Returns what another gateway has stored meanwhile, if any.
      return ((await link.command('set', SESSION_SECRET, made, 'NX', 'GET')) as Buffer | null) ?? made;
    },
    async replace() {
      const made = randomBytes(SESSION_SECRET_BYTES);
      await replicas.confirmed(SESSION_SECRET, () => link.command('set', SESSION_SECRET, made));
    },
    async end(sessionId, keptMs) {
      const name = endedSessionName(sessionId);
      await replicas.confirmed(name, () => link.command('set', name, '1', 'PX', String(keptMs)));
    },
    hasEnded: async (sessionId) => (await link.command('get', endedSessionName(sessionId))) !== null,
  };
}
