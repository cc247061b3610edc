import { ImportLost } from '../../port.js';
import type { ImportStore, ImportUnderWay, IncomingKey, Staging } from '../../port.js';
import { IMPORT_MARK, rangeOf, recordRow, stagedRow } from '../files/rows.js';
import { markIn, place, recordsChanged } from './staged.js';
import type { Mark, StagedKey } from './staged.js';
import type { Store } from '../files/store.js';
import type { Stores } from '../files/stores.js';
import { attempt, inTransaction } from '../files/errors.js';

/** Rows per transaction, which bounds how long the event loop stands still. */
const STEP_ROWS = 1_000;

/** Staged rows and the mark that decides over them all live in `durable`: each step is on disk when it ends. */
export function importsOf(stores: Stores): ImportStore {
  const { importLeaseMs } = stores;
  const mark = (next: Mark): void => {
    stores.durable.putSync(IMPORT_MARK, Buffer.from(JSON.stringify(next)));
  };
  const leaseMs = (): number => Date.now() + importLeaseMs;
  return {
    read: () =>
      attempt(stores, () => {
        stores.durable.resetReadTxn();
        return underWay(markIn(stores.durable));
      }),
    open: (id) =>
      inTransaction(stores, () => {
        const there = markIn(stores.durable);
        if (there === undefined) mark({ id, phase: 'staging', untilMs: leaseMs() });
        return underWay(there);
      }),
    stage: (id, keys) =>
      inTransaction(stores, () => {
        stores.durableCapacity.claim();
        claim(stores.durable, id);
        mark({ id, phase: 'staging', untilMs: leaseMs() });
        return keys.map((key) => stageOne(stores.durable, id, key));
      }),
    commit: (id) =>
      inTransaction(stores, () => {
        claim(stores.durable, id);
        mark({ id, phase: 'committed', untilMs: 0 });
        recordsChanged(stores.durable);
      }),
    settle: async (id) => {
      const isOurs = (): boolean => markIn(stores.durable)?.id === id && markIn(stores.durable)?.phase === 'committed';
      while (
        await inTransaction(stores, () => isOurs() && !step(stores.durable, (staged) => place(stores.durable, staged)))
      );
    },
    drop: async (id, whose) => {
      const begun = await inTransaction(stores, () => {
        const there = markIn(stores.durable);
        if (there?.id !== id || there.phase === 'committed' || (whose === 'abandoned' && !isAbandoned(there)))
          return false;
        mark({ id, phase: 'dropping', untilMs: leaseMs() });
        return true;
      });
      const isOurs = (): boolean => markIn(stores.durable)?.id === id && markIn(stores.durable)?.phase === 'dropping';
      while (
        begun &&
        (await inTransaction(
          stores,
          () => isOurs() && !step(stores.durable, ({ record }) => stores.durable.removeSync(stagedRow(record.id))),
        ))
      );
    },
  };
}

function stageOne(durable: Store, importId: string, key: IncomingKey): Staging {
  const { id } = key.record;
  if (durable.getBinaryFast(recordRow(id)) !== undefined) return 'present';
  // Rows of other imports were all removed before this one could open.
  if (durable.getBinaryFast(stagedRow(id)) !== undefined) return 'repeated';
  const staged: StagedKey = { importId, ...key };
  durable.putSync(stagedRow(id), Buffer.from(JSON.stringify(staged)));
  return 'staged';
}

/** Works off some staged rows. With the last of them the mark goes, and it answers true. */
function step(durable: Store, work: (staged: StagedKey) => unknown): boolean {
  const rows: StagedKey[] = [];
  for (const { value } of durable.getRange({ ...rangeOf('i'), limit: STEP_ROWS }))
    rows.push(JSON.parse(value.toString()) as StagedKey);
  for (const staged of rows) work(staged);
  const isDone = rows.length < STEP_ROWS;
  if (isDone) durable.removeSync(IMPORT_MARK);
  return isDone;
}

function claim(durable: Store, id: string): void {
  const there = markIn(durable);
  if (there?.id !== id || there.phase !== 'staging')
    throw new ImportLost(
      'The import was silent for too long and was dropped by another one. Nothing of it was kept: run it again.',
    );
}

function underWay(mark: Mark | undefined): ImportUnderWay | undefined {
  return mark === undefined ? undefined : { id: mark.id, phase: mark.phase, abandoned: isAbandoned(mark) };
}

function isAbandoned({ phase, untilMs }: Mark): boolean {
  return phase !== 'committed' && Date.now() > untilMs;
}
