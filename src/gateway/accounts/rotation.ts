import type { KeyRecord, SecretHash } from '../store/records/key.js';
import type { AuditEntry } from '../store/records/record.js';
import type { Change } from './edits.js';
import { KeyRefused } from './refused.js';

const MAX_OVERLAP_MS = 90 * 86_400_000;

/** `endsAtMs` is when it stops to be good, null for never. */
interface Secret {
  readonly endsAtMs: number | null;
}

/** What a rotation leaves of the secrets there were: one at most. */
interface Retired<T extends Secret> {
  readonly old: readonly T[];
  /** For the history: when the old secret ends (null: none is left), and how many others end now. */
  readonly changed: AuditEntry['changed'];
}

/** The record with a new secret, and what `retire` leaves of those before. */
export function rotated(
  record: KeyRecord,
  hash: SecretHash['hash'],
  nowMs: number,
  overlapMs: number,
): Change<KeyRecord> {
  const { old, changed } = retire(record.secrets, nowMs, overlapMs);
  return { next: { ...record, secrets: [{ hash, endsAtMs: null }, ...old] }, action: 'rotated', changed };
}

/** Throws KeyRefused for an overlap, in ms, that may not be. */
export function checkOverlap(overlapMs: number): void {
  if (!Number.isInteger(overlapMs) || overlapMs < 0 || overlapMs > MAX_OVERLAP_MS)
    throw new KeyRefused('invalid', ['overlap: must be a duration from 0s to 90d, such as 24h']);
}

/** Which of `secrets` stays good beside a new one, and until when: at most `overlapMs`, and not past its own end. */
export function retire<T extends Secret>(secrets: readonly T[], nowMs: number, overlapMs: number): Retired<T> {
  const valid = secrets.filter((secret) => endOf(secret) > nowMs);
  const longest = newestOf(valid);
  const endsAtMs = longest === undefined ? nowMs : Math.min(endOf(longest), nowMs + overlapMs);
  const old = longest === undefined || endsAtMs <= nowMs ? [] : [{ ...longest, endsAtMs }];
  const others = Math.max(0, valid.length - 1);
  const oldSecretEnds = longest === undefined ? null : new Date(endsAtMs).toISOString();
  return { old, changed: { oldSecretEnds, ...(others === 0 ? {} : { othersEndedAtOnce: others }) } };
}

/** The one that stays valid longest, the first of equals: no rotation has replaced it. */
export function newestOf<T extends Secret>(secrets: readonly T[]): T | undefined {
  return secrets.reduce<T | undefined>(
    (best, secret) => (best === undefined || endOf(secret) > endOf(best) ? secret : best),
    undefined,
  );
}

function endOf({ endsAtMs }: Secret): number {
  return endsAtMs ?? Infinity;
}
