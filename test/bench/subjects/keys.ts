import { makeToken } from '../../../src/gateway/accounts/token.js';

/**
 * roomy: never reaches its limits. tight: one request a minute. banned: its first refusal bans it for a day. counted:
 * its requests in flight are limited, and the limit is never reached. unknown: no key at all.
 */
export type KeyKind = 'roomy' | 'tight' | 'banned' | 'counted' | 'unknown';

export interface BenchKey {
  readonly id: string;
  readonly token: string;
  /** SHA-256 of the token, base64url. */
  readonly hash: string;
}

const NEVER = 100_000_000;
const LENIENT = { after: 1_000_000, within: '60s', for: '5m' };

/** Plans of Petgate, and limits that the peers' keys have; `anonymous` is for who shows no valid key. */
export const PLANS = {
  roomy: { limits: { minute: NEVER, day: NEVER }, ban: LENIENT },
  tight: { limits: { minute: 1, day: NEVER }, ban: LENIENT },
  banned: { limits: { minute: 1, day: NEVER }, ban: { after: 1, within: '60s', for: '24h' } },
  counted: { limits: { minute: NEVER, day: NEVER }, ban: LENIENT, concurrency: 1_000 },
  anonymous: { limits: { minute: NEVER, day: NEVER }, ban: LENIENT },
} as const;

/** Makes keys when they are first asked for; the same ones for every subject. */
export class Keys {
  readonly #made = new Map<string, readonly BenchKey[]>();

  of(kind: KeyKind, count: number): readonly BenchKey[] {
    const name = `${kind} ${count}`;
    const keys =
      this.#made.get(name) ??
      Array.from({ length: count }, () => {
        const { id, token, secretHash } = makeToken('development');
        return { id, token, hash: secretHash };
      });
    this.#made.set(name, keys);
    return keys;
  }
}
