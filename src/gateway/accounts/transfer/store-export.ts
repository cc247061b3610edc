import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AdmissionEngine } from '../../store/port.js';
import type { Counts, StoredRow } from '../../store/records/counts.js';
import type { ArchiveNote } from '../../store/ledger.js';
import { areCorrected } from '../../store/records/correction.js';
import type { RecordStore, Snapshot, StoredRecord } from '../../store/records/record.js';
import { withRetry } from '../../store/records/retry.js';
import { dayOf } from '../../../shared/utc-day.js';
import { addLine, EXPORT_FORMAT, EXPORT_FORMAT_WITH_CORRECTIONS, noSums, recordLine } from './stored.js';

/** Few, so that requests get their turn in between. */
const RECORDS_AT_ONCE = 50;

/**
 * Yields all that a store keeps for longer than a minute, as JSON lines, with their sums at the end. Each key is a
 * consistent snapshot, including that day's usage; earlier days follow.
 */
export async function* exportStore(engine: AdmissionEngine, nowMs: number): AsyncGenerator<string, void> {
  const { customers, keys, tokens, transfer } = engine;
  const today = dayOf(nowMs);
  const sums = noSums();
  const format = (await areCorrected(engine)) ? EXPORT_FORMAT_WITH_CORRECTIONS : EXPORT_FORMAT;
  const archive = (await transfer.archive?.archive()) ?? null;
  yield line({
    ...{ kind: 'store', format, exported: new Date(nowMs).toISOString() },
    archive: archive && { id: archive.id, days: [...archive.days.keys()], has: hadOf(archive) },
  });
  const records = { customer: customers, key: keys };
  for (const kind of ['customer', 'key'] as const)
    for await (const page of snapshots(records[kind], today)) {
      for (const { usage } of page) addLine(sums, kind, usage);
      yield page.map((each) => line(recordLine(kind, each))).join('');
    }
  for (const token of await tokens.list()) {
    addLine(sums, 'token', []);
    yield line({ kind: 'token', token });
  }
  for await (const rows of transfer.rowsBefore(today)) {
    addLine(sums, 'usage', rows);
    yield usageLine(rows);
  }
  yield line({ kind: 'end', sums });
}

type Page = readonly Snapshot<StoredRecord>[];

async function* snapshots(
  store: Pick<RecordStore<StoredRecord, never>, 'snapshots'>,
  today: string,
): AsyncGenerator<Page, void> {
  let after: string | null = null;
  for (let isMore = true; isMore;) {
    const from: string | null = after;
    const page: Page = await withRetry(() => store.snapshots(from, RECORDS_AT_ONCE, today));
    isMore = page.length > 0;
    after = page.at(-1)?.record.id ?? null;
    yield page;
    await nextTurn();
  }
}

/** Returns what the archive had of each day when it was moved there. */
function hadOf({ days }: ArchiveNote): Readonly<Record<string, Counts>> {
  return Object.fromEntries([...days].flatMap(([day, has]) => (has === null ? [] : [[day, has]])));
}

function usageLine(rows: readonly StoredRow[]): string {
  return rows.length === 0 ? '' : line({ kind: 'usage', rows });
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
