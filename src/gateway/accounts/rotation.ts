import type { KeyRecord, SecretHash } from '../store/records/key.js';
import type { Change } from './edits.js';
import { KeyRefused } from './refused.js';

const MAX_OVERLAP_MS = 90 * 86_400_000;

/**
 * The record with a new secret. Of those before, the one that stays valid longest is good for at most `overlapMs` more,
 * and not past its own end. The history has when that ends (null: none is left), and how many others end now.
 */
export function rotated(
  record: KeyRecord,
  hash: SecretHash['hash'],
  nowMs: number,
  overlapMs: number,
): Change<KeyRecord> {
  const valid = record.secrets.filter((secret) => endOf(secret) > nowMs);
  const longest = newestOf(valid);
  const endsAtMs = longest === undefined ? nowMs : Math.min(endOf(longest), nowMs + overlapMs);
  const old = longest === undefined || endsAtMs <= nowMs ? [] : [{ ...longest, endsAtMs }];
  const others = Math.max(0, valid.length - 1);
  const oldSecretEnds = longest === undefined ? null : new Date(endsAtMs).toISOString();
  const changed = { oldSecretEnds, ...(others === 0 ? {} : { othersEndedAtOnce: others }) };
  return { next: { ...record, secrets: [{ hash, endsAtMs: null }, ...old] }, action: 'rotated', changed };
}

/** Throws KeyRefused for an overlap, in ms, that may not be. */
export function checkOverlap(overlapMs: number): void {
  if (!Number.isInteger(overlapMs) || overlapMs < 0 || overlapMs > MAX_OVERLAP_MS)
    throw new KeyRefused('invalid', ['overlap: must be a duration from 0s to 90d, such as 24h']);
}

/** The one that stays valid longest, the first of equals: no rotation has replaced it. */
export function newestOf(secrets: readonly SecretHash[]): SecretHash | undefined {
  return secrets.reduce<SecretHash | undefined>(
    (best, secret) => (best === undefined || endOf(secret) > endOf(best) ? secret : best),
    undefined,
  );
}

function endOf({ endsAtMs }: SecretHash): number {
  return endsAtMs ?? Infinity;
}
