export const ROLES = ['read', 'billing', 'keys', 'operator'] as const;

/** The roles of admin tokens (admin/access/roles.ts). */
export type Role = (typeof ROLES)[number];

/** An admin token as stored: only its hash, never the token itself. */
export interface AdminToken {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** SHA-256 of the whole token, base64url. */
  readonly hash: string;
  readonly createdAtMs: number;
  /** The actor who created it. */
  readonly createdBy: string;
  /** Null for never. */
  readonly expiresAtMs: number | null;
}

export function hasExpired({ expiresAtMs }: AdminToken, nowMs: number): boolean {
  return expiresAtMs !== null && expiresAtMs <= nowMs;
}

/**
 * Admin tokens; there are few, so lists are not paged. Each change applies to the next `read` of every gateway, and is
 * durable when the promise resolves.
 */
export interface TokenStore {
  read(id: string): Promise<AdminToken | undefined>;
  /** All tokens, by ID. */
  list(): Promise<readonly AdminToken[]>;
  /** Rejects with ChangeUncertain if no replica confirmed it; so does `remove`. */
  add(token: AdminToken): Promise<void>;
  /** Returns false if there is none. */
  remove(id: string): Promise<boolean>;
}
