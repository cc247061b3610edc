import type { AuditEntry, SecretHash } from '../admission/key-record.js';

/** What a rotation leaves of the secrets there were: one at most. */
interface Retired {
  readonly old: readonly SecretHash[];
  /** For the key's history: when the old secret ends (null: none is left), and how many others end now. */
  readonly changed: AuditEntry['changed'];
}

/** Which of `secrets` stays good beside a new one, and until when: never longer than `overlapMs` nor than its own end. */
export function retire(secrets: readonly SecretHash[], nowMs: number, overlapMs: number): Retired {
  const good = secrets.filter((secret) => endOf(secret) > nowMs);
  const longest = good.reduce<SecretHash | undefined>(
    (best, secret) => (best === undefined || endOf(secret) > endOf(best) ? secret : best),
    undefined,
  );
  const endsAtMs = longest === undefined ? nowMs : Math.min(endOf(longest), nowMs + overlapMs);
  const old = longest === undefined || endsAtMs <= nowMs ? [] : [{ ...longest, endsAtMs }];
  const others = Math.max(0, good.length - 1);
  const oldSecretEnds = longest === undefined ? null : new Date(endsAtMs).toISOString();
  return { old, changed: { oldSecretEnds, ...(others === 0 ? {} : { othersEndedAtOnce: others }) } };
}

function endOf({ endsAtMs }: SecretHash): number {
  return endsAtMs ?? Infinity;
}
