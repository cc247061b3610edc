import type { LedgerStore, LedgerTransfer, MovedRow } from '../../ledger.js';
import { MAX_DAYS } from './active-days.js';
import { fieldsOf } from './moved-days.js';
import { storedRows } from './rows.js';
import type { Link } from '../link/link.js';
import { loadScript } from '../link/script.js';
import { dayNumberOf, dayNumbers, keyName, ledgerName } from '../names.js';

/** Ledgers under way at once. */
const RAISED_AT_ONCE = 32;

const RAISE = loadScript('ledger/raise', { MAX_DAYS });

export function ledgerTransferOf(link: Link, archive: LedgerStore, usageDays: number): LedgerTransfer {
  return {
    archive,
    async *rowsBefore(before) {
      const end = dayNumberOf(before);
      const held = (await archive.archive())?.days ?? new Set<string>();
      // What came late stands beside the archive for ever.
      const first = Math.min(end - usageDays - 1, ...[...held].map(dayNumberOf));
      const days = dayNumbers(first, end - 1);
      for await (const rows of storedRows(link, days, { held }))
        yield rows.map(({ isWhole, ...row }) =>
          held.has(row.day) && isWhole !== true ? { ...row, isOnTop: true } : row,
        );
    },
    raise: (rows) => raiseLedgers(link, rows, usageDays),
  };
}

/** Each key and day in one step; how many of them grew. */
export async function raiseLedgers(link: Link, rows: readonly MovedRow[], usageDays: number): Promise<number> {
  const seconds = ((usageDays + 1) * 86_400).toString();
  const byName = new Map<string, MovedRow[]>();
  for (const row of rows) {
    const name = ledgerName(row.key, dayNumberOf(row.day));
    byName.set(name, [...(byName.get(name) ?? []), row]);
  }
  const ledgers = [...byName];
  let grown = 0;
  for (let from = 0; from < ledgers.length; from += RAISED_AT_ONCE) {
    const some = ledgers.slice(from, from + RAISED_AT_ONCE).map(async ([name, its]) => {
      const [{ key, isOnTop } = { key: '' }] = its;
      return link.run(RAISE, [name, keyName(key)], [seconds, isOnTop === true ? '1' : '0', ...fieldsOf(its)]);
    });
    for (const answer of await Promise.all(some)) grown += Number(answer.toString());
  }
  return grown;
}
