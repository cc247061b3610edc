import { VersionConflict } from '../../port.js';
import type { OutboxChange } from '../../outbox/event.js';
import type { AuditEntry } from '../../records/record.js';
import type { NewRecord, RecordStore, StoredRecord } from '../../records/record.js';
import { pageOf } from '../link/ids.js';
import type { Link } from '../link/link.js';
import type { Replicas } from '../link/replicas.js';
import { loadScript } from '../link/script.js';
import { eventsName, historyName } from '../names.js';
import { pendingArgs, pendingField } from '../outbox/fields.js';
import { announceChange } from './changes.js';

const WRITE = loadScript('records/write');

/** What differs between keys and customers. */
export interface RecordType<R> {
  /** The sorted set of all ids. */
  readonly index: string;
  readonly nameOf: (id: string) => string;
  readonly read: (link: Link, id: string) => Promise<R | undefined>;
  /** Fields and values of the hash. */
  readonly fieldsOf: (record: R) => readonly string[];
  /** Fields and values that erasing sets beside them. */
  readonly erased: readonly string[];
}

/** What is written with a record in one step. */
interface Beside {
  /** Fields and values of the same hash. */
  readonly fields?: readonly string[];
  readonly events?: OutboxChange | undefined;
}

const NO_EVENTS: OutboxChange = { emit: [], withdraw: [] };

export function recordsOf<R extends StoredRecord>(
  link: Link,
  replicas: Replicas,
  type: RecordType<R>,
): RecordStore<R, Beside> {
  const { index, nameOf } = type;
  const run = async (
    record: R,
    entries: readonly AuditEntry[],
    replaces: boolean,
    beside: Beside,
  ): Promise<boolean> => {
    const { fields = [], events: { emit, withdraw } = NO_EVENTS } = beside;
    const { id, version } = record;
    const names = [nameOf(id), historyName(id), ...(emit.length + withdraw.length === 0 ? [] : [eventsName(id)])];
    const counts = [version - 1, replaces ? 1 : 0, entries.length, withdraw.length, emit.length];
    const args = [
      ...counts.map(String),
      ...entries.map((entry) => JSON.stringify(entry)),
      ...withdraw.flatMap((event) => [pendingField(event), event]),
      ...emit.flatMap(pendingArgs),
      ...type.fieldsOf(record),
      ...fields,
    ];
    return (await link.run(WRITE, names, args)).toString() === '1';
  };
  /** An index entry without a record is skipped, a record without one would be lost from lists: so it comes first. */
  const putInIndex = (ids: readonly string[]): Promise<unknown> =>
    link.command('zadd', index, ...ids.flatMap((id) => ['0', id]));
  const writeOne = async (record: R, ...rest: [readonly AuditEntry[], boolean, Beside]): Promise<void> => {
    const { id, version } = record;
    await (version === 1 ? putInIndex([id]) : announceChange(link, id));
    if (!(await replicas.confirmed(nameOf(id), () => run(record, ...rest))))
      throw new VersionConflict(`${id} was changed by somebody else, or exists already`);
  };
  const read = (id: string): Promise<R | undefined> => type.read(link, id);
  return {
    read,
    // Redis alone says what its files still hold.
    confirm: (id) => replicas.confirmed(nameOf(id), () => Promise.resolve()),
    write: (record, entry, beside = {}) => writeOne(record, [entry], false, beside),
    rewrite: (record, history) => writeOne(record, history, true, { fields: type.erased }),
    async add(records) {
      if (records.length === 0) return [];
      await putInIndex(records.map(({ record }) => record.id));
      const added = new Set<NewRecord<R>>();
      const addOne = async (one: NewRecord<R>): Promise<void> => {
        if (await run(one.record, [one.entry], false, {})) added.add(one);
      };
      // Each node's replicas are waited for once: that covers all that was written there before.
      const nodes = new Map<string, NewRecord<R>[]>();
      for (const one of records) {
        const node = link.nodeOf(nameOf(one.record.id));
        nodes.set(node, [...(nodes.get(node) ?? []), one]);
      }
      const confirmed = [...nodes.values()].map((some) =>
        replicas.confirmed(nameOf(some[0]!.record.id), () => Promise.all(some.map(addOne))),
      );
      await Promise.all(confirmed);
      return records.map((one) => added.has(one));
    },
    page: (afterId, count) => pageOf(link, index, afterId, count, read),
    async history(id) {
      const entries = (await link.command('lrange', historyName(id), '0', '-1')) as Buffer[];
      return entries.map((entry) => JSON.parse(entry.toString()) as AuditEntry);
    },
  };
}
