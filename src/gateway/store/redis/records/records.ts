import { FORMAT_WITH_CORRECTIONS } from '../../format.js';
import { VersionConflict, type KeyChange } from '../../port.js';
import { NO_CHANGE } from '../../outbox/event.js';
import { isCorrection } from '../../records/correction.js';
import type { AuditEntry, RecordStore, Restored, Snapshot, StoredRecord } from '../../records/record.js';
import { idsAfter, pageOf } from '../link/ids.js';
import type { Link } from '../link/link.js';
import type { Replicas } from '../link/replicas.js';
import type { Raise } from '../ledger/transfer.js';
import { loadScript } from '../link/script.js';
import { eventsName, historyName, STORE } from '../names.js';
import { pendingArgs, pendingField } from '../outbox/fields.js';
import { announceChange, isRestricting } from './changes.js';
import type { RecordType } from './record-type.js';
import { readSnapshots, restoreSnapshot } from './snapshots.js';

const WRITE = loadScript('records/write');

/** What is written with a record in one step. */
interface Beside {
  /** Whether the entries take the place of the whole history. */
  readonly replaces?: boolean;
  /** The version that is to be stored now; left out, it is the one before. */
  readonly over?: number;
  /** Fields and values of the same hash. */
  readonly fields?: readonly string[];
  readonly change?: KeyChange | undefined;
}

/** Writes that skip versions: what Redis lost of a record and a gateway still knows. */
export interface Overtaking<R extends StoredRecord> {
  /** Writes `record` with its audit entry if the stored version is `over`. Rejects as `write` does. */
  overtake(record: R, over: number, entry: AuditEntry): Promise<void>;
}

export function recordsOf<R extends StoredRecord>(
  link: Link,
  replicas: Replicas,
  type: RecordType<R>,
  raise: Raise,
): RecordStore<R, Beside> & Overtaking<R> {
  const { index, correctedIndex, nameOf } = type;
  const run = async (
    record: R,
    entries: readonly AuditEntry[],
    { replaces = false, over = record.version - 1, fields = [], change = NO_CHANGE }: Beside,
  ): Promise<boolean> => {
    const { id } = record;
    const { emit, withdraw, ban }: KeyChange = change;
    const names = [nameOf(id), historyName(id), ...(emit.length + withdraw.length === 0 ? [] : [eventsName(id)])];
    const counts = [over, replaces ? 1 : 0, entries.length, withdraw.length, emit.length];
    const args = [
      ...counts.map(String),
      ban === undefined ? '' : String(ban?.untilMs ?? 0),
      ban?.note ? JSON.stringify({ untilMs: ban.untilMs, ...ban.note }) : '',
      ...entries.map((entry) => JSON.stringify(entry)),
      ...withdraw.flatMap((event) => [pendingField(event), event]),
      ...emit.flatMap(pendingArgs),
      ...type.fieldsOf(record),
      ...fields,
    ];
    return (await link.run(WRITE, names, args)).toString() === '1';
  };
  /** Before there is a correction, for a version that knows none has to leave the store alone by then. */
  const noteCorrected = async (ids: readonly string[]): Promise<void> => {
    if (ids.length === 0) return;
    await replicas.confirmed(STORE, () => link.command('hset', STORE, 'format', FORMAT_WITH_CORRECTIONS));
    await putInIndex(link, correctedIndex, ids);
  };
  const writeOne = async (record: R, entries: readonly AuditEntry[], beside: Beside): Promise<void> => {
    const { id, version } = record;
    const restricts = isRestricting(entries.at(-1)!);
    await (version === 1 ? putInIndex(link, index, [id]) : announceChange(link, type, id, restricts));
    if (entries.some(isCorrection)) await noteCorrected([id]);
    if (!(await replicas.confirmed(nameOf(id), () => run(record, entries, beside))))
      throw new VersionConflict(`${id} was changed by somebody else, or exists already`);
    // At once, for Redis may be restored before anybody sees what it counted.
    if (restricts && version > 1) await link.identify(nameOf(id)).catch(() => undefined);
  };
  const read = async (id: string): Promise<R | undefined> => type.recordIn(id, await link.hash(nameOf(id)));
  return {
    read,
    // Redis alone says what its files still hold.
    confirm: (id) => replicas.confirmed(nameOf(id), () => Promise.resolve()),
    write: (record, entry, beside = {}) => writeOne(record, [entry], beside),
    rewrite: (record, history) => writeOne(record, history, { replaces: true, fields: [type.beside, ''] }),
    overtake: (record, over, entry) => writeOne(record, [entry], { over }),
    snapshots: (afterId, count, fromDay) => readSnapshots(link, type, afterId, count, fromDay),
    async restore(snapshots) {
      if (snapshots.length === 0) return [];
      const ids = snapshots.map(({ record }) => record.id);
      await putInIndex(link, index, ids);
      await noteCorrected(idsOfCorrected(snapshots));
      // Each node's replicas are waited for once: that covers all that was written there before.
      const onNodes = new Map<string, number[]>();
      for (const [n, id] of ids.entries()) {
        const node = link.nodeOf(nameOf(id));
        onNodes.set(node, [...(onNodes.get(node) ?? []), n]);
      }
      const restored: Restored[] = [];
      const restoreOne = async (n: number): Promise<void> => {
        restored[n] = await restoreSnapshot(link, type, snapshots[n]!, raise);
      };
      const confirmed = [...onNodes.values()].map((its) =>
        replicas.confirmed(nameOf(ids[its[0]!]!), () => Promise.all(its.map(restoreOne))),
      );
      await Promise.all(confirmed);
      return restored;
    },
    page: (afterId, count) => pageOf(link, index, afterId, count, read),
    corrected: (afterId, count) => idsAfter(link, correctedIndex, afterId, count),
    async history(id) {
      await type.flush?.(id);
      const entries = (await link.command('lrange', historyName(id), '0', '-1')) as Buffer[];
      return entries.map((entry) => JSON.parse(entry.toString()) as AuditEntry);
    },
  };
}

/** An index entry without a record is skipped, a record without one would be lost from lists: so it comes first. */
function putInIndex(link: Link, index: string, ids: readonly string[]): Promise<unknown> {
  return link.command('zadd', index, ...ids.flatMap((id) => ['0', id]));
}

function idsOfCorrected(snapshots: readonly Snapshot<StoredRecord>[]): readonly string[] {
  return snapshots.flatMap(({ record, history }) => (history.some(isCorrection) ? [record.id] : []));
}
