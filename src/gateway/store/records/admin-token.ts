export const ROLES = ['read', 'billing', 'keys', 'operator'] as const;

/** What the holder of an admin token may do (admin/access/roles.ts). */
export type Role = (typeof ROLES)[number];

/** All that is known of an admin token. The token itself is nowhere: only its hash. */
export interface AdminToken {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** SHA-256 of the whole token, base64url. */
  readonly hash: string;
  readonly createdAtMs: number;
  /** The actor who made it. */
  readonly createdBy: string;
  /** Null for never. */
  readonly expiresAtMs: number | null;
}

/** Whether it opens nothing any more. */
export function hasExpired({ expiresAtMs }: AdminToken, nowMs: number): boolean {
  return expiresAtMs !== null && expiresAtMs <= nowMs;
}

/**
 * Admin tokens; a few, so that a list is not paged. Each change holds for the next `read` of every gateway, and is
 * durable when the promise ends.
 */
export interface TokenStore {
  read(id: string): Promise<AdminToken | undefined>;
  /** All of them, by id. */
  list(): Promise<readonly AdminToken[]>;
  /** Rejects with ChangeUncertain when no replica confirmed it; so does `remove`. */
  add(token: AdminToken): Promise<void>;
  /** False when there is none. */
  remove(id: string): Promise<boolean>;
}
