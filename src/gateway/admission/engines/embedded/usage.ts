import { DAY_MS } from '../../bucket.js';
import type { UsageRow, UsageStore } from '../../port.js';
import type { Checkpoint } from './checkpoint.js';
import { dayOf } from './day.js';
import { AFTER_ALL, SEPARATOR } from './rows.js';
import type { Stores } from './stores.js';
import { unpackCounts } from './subject-row.js';
import { attempt } from './unavailable.js';

const PAGE_ROWS = 500;

/**
 * The ledger, day by day, within a day by key, plan and operation. Reading brings `durable` up to date
 * first, and so tells every admission that any process had committed before the call.
 */
export function usageOf(stores: Stores, checkpoint: Checkpoint): UsageStore {
  return {
    rows: async function* (from, to, keyId) {
      await checkpoint.run();
      for (let dayMs = Date.parse(from); dayMs <= Date.parse(to); dayMs += DAY_MS) {
        const prefix = keyId === undefined ? `u${dayOf(dayMs)}${SEPARATOR}` : `u${dayOf(dayMs)}${SEPARATOR}${keyId}${SEPARATOR}`;
        let after = prefix;
        for (;;) {
          const page = await attempt(stores, () => pageOf(stores, after, prefix));
          if (page.rows.length > 0) yield page.rows;
          if (page.rows.length < PAGE_ROWS) break;
          after = page.last;
        }
      }
    },
  };
}

function pageOf(stores: Stores, after: string, prefix: string): { readonly rows: readonly UsageRow[]; readonly last: string } {
  const { durable } = stores;
  durable.resetReadTxn();
  const rows: UsageRow[] = [];
  let last = after;
  for (const { key, value } of durable.getRange({ start: after, end: prefix + AFTER_ALL, exclusiveStart: true, limit: PAGE_ROWS })) {
    const [day = '', id = '', plan = '', operation = ''] = key.slice(1).split(SEPARATOR);
    rows.push({ key: id, plan, operation, day, ...unpackCounts(value) });
    last = key;
  }
  return { rows, last };
}
