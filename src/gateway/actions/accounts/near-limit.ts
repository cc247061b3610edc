import { EVERY_OPERATION } from '../../admission/windows.js';
import type { Page } from '../../accounts/listing.js';
import type { AdmissionEngine } from '../../store/port.js';
import type { KeyRecord } from '../../store/records/key.js';

/** Keys per batch, so that requests have their turn in between. */
const AT_ONCE = 200;
/** Maximum keys looked at for one page. After that, the page is short and its cursor continues from there. */
const SCAN_COUNT = 2_000;

/** Returns what each of these keys has left, as admission would report it; null for one that is refused. */
export async function standingsOf(engine: Pick<AdmissionEngine, 'admit'>, keys: readonly KeyRecord[]) {
  const verdicts = await engine.admit(
    keys.map(({ id, secrets }) => {
      const subject = { kind: 'key', id, secretHash: secrets[0]?.hash ?? '' } as const;
      return { subject, operation: EVERY_OPERATION, scope: null, cost: 0 };
    }),
  );
  return verdicts.map((verdict) => (verdict.outcome === 'unknown_key' ? null : verdict));
}

/**
 * Returns up to `count` keys that have used at least this share of a window.
 * @param read a page of at most `count` keys after a cursor
 * @param percent 1 to 100
 */
export async function listNearLimit(
  engine: Pick<AdmissionEngine, 'admit'>,
  read: (cursor: string | null, count: number) => Promise<Page<KeyRecord>>,
  cursor: string | null,
  count: number,
  percent: number,
): Promise<Page<KeyRecord>> {
  const near: KeyRecord[] = [];
  let after = cursor;
  for (let scanned = 0; scanned < SCAN_COUNT; scanned += AT_ONCE) {
    // Never more than fit: the cursor belongs to the last key of a batch.
    const { records, cursor: next } = await read(after, Math.min(AT_ONCE, count - near.length));
    const standings = await standingsOf(engine, records);
    const isNear = (_: KeyRecord, n: number): boolean =>
      (standings[n]?.windows ?? []).some(
        ({ limit, remaining }) => limit !== 'unlimited' && 100 * (limit - remaining) >= percent * limit,
      );
    near.push(...records.filter(isNear));
    after = next;
    if (after === null || near.length >= count) break;
  }
  return { records: near, cursor: after };
}
