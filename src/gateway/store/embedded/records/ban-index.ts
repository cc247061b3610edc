import { setImmediate } from 'node:timers/promises';
import type { SubjectState } from '../../../admission/decide.js';
import type { BansInForce } from '../../port.js';
import { addressRow, bannedRow, keyRow, rangeOf } from '../files/rows.js';
import type { Store } from '../files/store.js';
import type { Stores } from '../files/stores.js';
import { attempt } from '../files/errors.js';

/** What a state says of a ban. */
export type BanState = Pick<SubjectState, 'bannedUntilMs' | 'banLevel' | 'strikes' | 'strikesSinceMs'>;
export const NO_BAN: BanState = { bannedUntilMs: 0, banLevel: 0, strikes: 0, strikesSinceMs: 0 };

const PAGE_ROWS = 1_000;
const END_BYTES = 8;

/** In a transaction on `recent`: notes the ban of a subject's row for counting; 0 takes it out. */
export function noteBan(recent: Store, subject: string, untilMs: number): void {
  const name = bannedRow(subject);
  if (untilMs === 0) {
    if (recent.getBinaryFast(name) !== undefined) recent.removeSync(name);
    return;
  }
  const end = Buffer.alloc(END_BYTES);
  end.writeDoubleLE(untilMs);
  recent.putSync(name, end);
}

/** Rows of some of those that it names. */
export function bannedSubjects(recent: Store, limit: number): readonly string[] {
  return [...recent.getKeys({ ...rangeOf(bannedRow('')), limit })].map((name) => name.slice(bannedRow('').length));
}

/** Whether a ban of that index is over. */
export function isBanOver(end: Buffer, nowMs: number): boolean {
  return end.readDoubleLE() <= nowMs;
}

/** Bans in force that began since the machine was started, or met somebody since; a page at a time. */
export async function bansInForce(stores: Stores, nowMs: number): Promise<BansInForce> {
  const count = async (kind: string): Promise<number> => {
    const { end } = rangeOf(kind);
    let found = 0;
    for (let after: string | null = kind; after !== null;) {
      after = await attempt(stores, () => {
        stores.recent.resetReadTxn();
        let rows = 0;
        let last = kind;
        for (const { key, value } of stores.recent.getRange({
          start: after ?? kind,
          end,
          exclusiveStart: true,
          limit: PAGE_ROWS,
        })) {
          rows += 1;
          last = key;
          if (!isBanOver(value, nowMs)) found += 1;
        }
        return rows < PAGE_ROWS ? null : last;
      });
      await setImmediate();
    }
    return found;
  };
  return { keys: await count(bannedRow(keyRow(''))), addresses: await count(bannedRow(addressRow(''))) };
}
