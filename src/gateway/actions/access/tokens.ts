import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { hasExpired, ROLES, type AdminToken, type TokenStore } from '../../store/records/admin-token.js';
import { suggestion } from '../../../shared/names/nearest.js';
import type { Clock } from '../../store/store-clock.js';
import { advised } from '../../accounts/edits.js';
import { expiresAfter, name, quote, required, type Body } from '../../accounts/fields.js';
import { isKeyId, makeAdminToken, parseAdminToken } from '../../accounts/token.js';

const role = z
  .enum(ROLES, {
    error: ({ input }) =>
      typeof input === 'string'
        ? `there is no role ${quote(input)}; ${suggestion(input.slice(0, 64), ROLES)}`
        : `is required: ${ROLES.join(', ')}`,
  })
  .describe('What it allows');
/** The body that creates a token. */
export const newToken = (nowMs: number) => ({ name, role, expires: expiresAfter(nowMs).optional() });

/** The life cycle of admin tokens. Nothing is cached: changes in the store apply immediately. */
export class AdminTokens {
  readonly #store: TokenStore;
  readonly #clock: Clock;

  constructor(store: TokenStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** @param body `{name, role, expires?}`. Rejects with KeyRefused, which names every problem. */
  async create(body: Body, actor: string): Promise<{ readonly record: AdminToken; readonly token: string }> {
    const nowMs = await this.#clock();
    const { name, role, expires: expiresAtMs = null } = required(body, newToken(nowMs));
    const { token, id, secretHash: hash } = makeAdminToken();
    const record: AdminToken = { id, name, role, hash, createdAtMs: nowMs, createdBy: actor, expiresAtMs };
    await advised(
      this.#store.add(record),
      `This made the admin token ${id}, which is not shown: revoke it, and create another.`,
    );
    return { record, token };
  }

  async get(id: string): Promise<AdminToken | undefined> {
    return isKeyId(id) ? this.#store.read(id) : undefined;
  }

  list(): Promise<readonly AdminToken[]> {
    return this.#store.list();
  }

  /** Revokes the token immediately, on every gateway. Returns whether there was one. */
  async revoke(id: string): Promise<boolean> {
    return isKeyId(id) && this.#store.remove(id);
  }

  /** Returns the record of a valid token; undefined for any other. */
  async holderOf(token: string): Promise<AdminToken | undefined> {
    const parsed = parseAdminToken(token);
    return parsed === null ? undefined : this.holderOfHash(parsed.id, parsed.secretHash);
  }

  /** Like `holderOf`, by the hash of the token, which a session stores. @param secretHash 43 characters */
  async holderOfHash(id: string, secretHash: string): Promise<AdminToken | undefined> {
    const record = await this.#store.read(id);
    if (record === undefined || !timingSafeEqual(Buffer.from(record.hash), Buffer.from(secretHash))) return undefined;
    if (record.expiresAtMs === null) return record;
    return hasExpired(record, await this.#clock()) ? undefined : record;
  }
}
