import type { KeyRecord, SecretHash } from '../store/records/key.js';
import type { Change } from './edits.js';
import { KeyRefused } from './refused.js';

const MAX_OVERLAP_MS = 90 * 86_400_000;
/** Two: rotating again because a response was lost must not end the secret that clients still use. */
const OLDER = 2;
/** Valid at the same time, including the new one. */
export const MAX_SECRETS = 1 + OLDER;

/**
 * Returns the record with a new secret. The two older ones with the latest ends remain valid for `overlapMs` at most,
 * and not past their own end. The history shows when the last of them ends (null: none is left), and how many others
 * end now.
 */
export function rotated(
  record: KeyRecord,
  hash: SecretHash['hash'],
  nowMs: number,
  overlapMs: number,
): Change<KeyRecord> {
  // `|| 0`: the difference between two without an end is NaN.
  const valid = record.secrets.filter((secret) => endOf(secret) > nowMs).sort((a, b) => endOf(b) - endOf(a) || 0);
  const older = valid
    .slice(0, overlapMs === 0 ? 0 : OLDER)
    .map((secret) => ({ ...secret, endsAtMs: Math.min(endOf(secret), nowMs + overlapMs) }));
  const others = Math.max(0, valid.length - Math.max(1, older.length));
  const oldSecretEnds = valid.length === 0 ? null : new Date(older[0]?.endsAtMs ?? nowMs).toISOString();
  const changed = { oldSecretEnds, ...(others === 0 ? {} : { othersEndedAtOnce: others }) };
  return { next: { ...record, secrets: [{ hash, endsAtMs: null }, ...older] }, action: 'rotated', changed };
}

/** Throws KeyRefused for an invalid overlap, in ms. */
export function checkOverlap(overlapMs: number): void {
  if (!Number.isInteger(overlapMs) || overlapMs < 0 || overlapMs > MAX_OVERLAP_MS)
    throw new KeyRefused('invalid', ['overlap: must be a duration from 0s to 90d, such as 24h']);
}

/** Returns the secret that stays valid longest (the first of equals): no rotation has replaced it. */
export function newestOf(secrets: readonly SecretHash[]): SecretHash | undefined {
  return secrets.reduce<SecretHash | undefined>(
    (best, secret) => (best === undefined || endOf(secret) > endOf(best) ? secret : best),
    undefined,
  );
}

function endOf({ endsAtMs }: SecretHash): number {
  return endsAtMs ?? Infinity;
}
