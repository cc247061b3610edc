import { FORMAT_WITH_CORRECTIONS } from '../../format.js';
import { NO_CHANGE } from '../../outbox/event.js';
import { Overdrawn, VersionConflict } from '../../records/conflicts.js';
import type { KeyChange } from '../../records/key.js';
import { isCorrection } from '../../records/correction.js';
import type { AuditEntry, StoredRecord } from '../../records/record.js';
import type { Change, Commit, Replacement, Rows } from '../../records/record-store.js';
import { groupBy } from '../../../../shared/group-by.js';
import { untilUncontested } from '../../records/retry.js';
import { packedWindows, packState } from '../../state.js';
import { archivedFields, missingDays } from '../ledger/archived-days.js';
import { markArchived } from '../ledger/moved-days.js';
import type { Raise } from '../ledger/transfer.js';
import { idsAfter, pageOf } from '../link/ids.js';
import { dayNumber } from '../../../../shared/utc-day.js';
import type { Link } from '../link/link.js';
import type { Replicas } from '../link/replicas.js';
import { loadScript } from '../link/script.js';
import { dayNumberOf, dayNumbers, eventsName, historyName, STORE } from '../keyspace/names.js';
import { pendingArgs, pendingField } from '../outbox/entries.js';
import { noteBan } from './bans.js';
import { announceChange, isRestricting } from './changes.js';
import { find, type CurrentInRedis, type RecordType } from './current.js';

const COMMIT = loadScript('records/commit');

/** By what the script returns. */
const OUTCOMES = ['changed', 'written', 'overdrawn'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** Keys or customers in Redis. */
export class RedisRows<R extends StoredRecord> implements Rows<R> {
  readonly #link: Link;
  readonly #replicas: Replicas;
  readonly #type: RecordType<R>;
  readonly #raise: Raise;

  constructor(link: Link, replicas: Replicas, type: RecordType<R>, raise: Raise) {
    this.#link = link;
    this.#replicas = replicas;
    this.#type = type;
    this.#raise = raise;
  }

  readonly read: Rows<R>['read'] = async (id) => this.#type.recordIn(id, await this.#link.hash(this.#type.nameOf(id)));

  // Waits only for replicas: what is on the disk of Redis is not known here.
  readonly confirm: Rows<R>['confirm'] = (id) =>
    this.#replicas.confirmed(this.#type.nameOf(id), () => Promise.resolve());

  readonly page: Rows<R>['page'] = (afterId, count) => pageOf(this.#link, this.#type.index, afterId, count, this.read);

  readonly corrected: Rows<R>['corrected'] = (afterId, count) =>
    idsAfter(this.#link, this.#type.correctedIndex, afterId, count);

  readonly history: Rows<R>['history'] = async (id) => {
    await this.#type.flush?.(id);
    const entries = (await this.#link.command('lrange', historyName(id), '0', '-1')) as Buffer[];
    return entries.map((entry) => JSON.parse(entry.toString()) as AuditEntry);
  };

  readonly snapshots: Rows<R>['snapshots'] = (afterId, count, fromDay) => {
    const [link, type] = [this.#link, this.#type];
    const days = dayNumbers(dayNumberOf(fromDay), dayNumber(link.storeMs(type.index)));
    return pageOf(link, type.index, afterId, count, async (id) => {
      const { record, archived, history, state, banNote, usage } = await find(link, type, id, days);
      if (record === undefined) return undefined;
      const marks = Object.keys(archived).length === 0 ? {} : { archived };
      return { record, history, state, banNote, usage, ...marks };
    });
  };

  async commit(commit: Commit<R>): Promise<void> {
    const { record, entries, over, replaces = false, maxSpent, change = NO_CHANGE } = commit;
    const { id, version } = record;
    const name = this.#type.nameOf(id);
    const restricts = isRestricting(entries.at(-1)!);
    await (version === 1 ? this.#putInIndex([id]) : announceChange(this.#link, this.#type, id, restricts));
    if (entries.some(isCorrection)) await this.#noteCorrected([id]);
    const fields = [...this.#type.fieldsOf(record), ...(replaces ? [this.#type.noteField, ''] : [])];
    const length = replaces ? (entries.length - 1).toString() : '';
    const expected = [over.toString(), '*', '*', length, maxSpent?.toString() ?? ''];
    const run = (): Promise<Outcome> => this.#run(id, expected, entries, replaces, fields, change);
    const outcome = await this.#replicas.confirmed(name, run);
    if (outcome === 'overdrawn') throw new Overdrawn(`more than ${maxSpent} is spent of the balance of ${id}`);
    if (outcome === 'changed') throw new VersionConflict(`${id} was changed by somebody else, or exists already`);
    // Now rather than at the next check: Redis may be restored before anyone has seen what it counted.
    if (restricts && version > 1) await this.#link.identify(name).catch(() => undefined);
  }

  async replace(changes: readonly Change<R>[]): Promise<readonly boolean[]> {
    if (changes.length === 0) return [];
    await this.#putInIndex(changes.map(({ id }) => id));
    await this.#noteCorrected(changes.flatMap(({ id, hasCorrections }) => (hasCorrections ? [id] : [])));
    // Waits for each node's replicas once: that covers everything written there before.
    const onNodes = groupBy(changes.keys(), (n) => this.#link.nodeOf(this.#type.nameOf(changes[n]!.id)));
    const grown: boolean[] = [];
    const replaceOne = async (n: number) => (grown[n] = await this.#replaceOne(changes[n]!));
    await Promise.all(
      [...onNodes.values()].map((its) =>
        this.#replicas.confirmed(this.#type.nameOf(changes[its[0]]!.id), () => Promise.all(its.map(replaceOne))),
      ),
    );
    return grown;
  }

  #replaceOne({ id, decide }: Change<R>): Promise<boolean> {
    return untilUncontested(async () => {
      const current = await find(this.#link, this.#type, id, []);
      const replacement = decide(current);
      if (replacement === null) return false;
      const { given, replaces, state } = replacement;
      if (replaces && current.record !== undefined) await announceChange(this.#link, this.#type, id, true);
      if (state !== undefined && !(await this.#put(current, replacement)))
        throw new VersionConflict(`${id} is being changed by somebody else; try again`);
      if (state !== undefined && state.bannedUntilMs > 0) await noteBan(this.#link, 'key', id, state.bannedUntilMs);
      if (current.record !== undefined)
        await markArchived(this.#link, id, missingDays(current.archived, given.archived ?? {}));
      return (await this.#raise(given.usage)) > 0;
    });
  }

  async #put(current: CurrentInRedis<R>, { given, replaces, state, history }: Replacement<R>): Promise<boolean> {
    const { record, banNote, archived = {} } = given;
    const windows = state!.operationWindows;
    const fields = [
      ...['state', packState({ ...state!, operationWindows: null })],
      ...(windows === null ? [] : ['windows', packedWindows(windows)]),
      // An existing record may have whole days here: `markArchived` marks the others.
      ...(current.record === undefined ? archivedFields(archived) : []),
      ...(replaces ? [...this.#type.fieldsOf(record), this.#type.noteField, banNote && JSON.stringify(banNote)] : []),
    ].map((field) => field ?? '');
    const expected = [...current.raw, current.record === undefined ? '' : current.history.length.toString(), ''];
    return (await this.#run(record.id, expected, history!, true, fields, NO_CHANGE)) === 'written';
  }

  async #run(
    id: string,
    expected: readonly (string | Buffer)[],
    entries: readonly AuditEntry[],
    replaces: boolean,
    fields: readonly (string | Buffer)[],
    { emit, withdraw, ban }: KeyChange,
  ): Promise<Outcome> {
    const hasEvents = emit.length + withdraw.length > 0;
    const names = [this.#type.nameOf(id), historyName(id), ...(hasEvents ? [eventsName(id)] : [])];
    const args = [
      ...expected,
      replaces ? '1' : '0',
      ...[entries.length, withdraw.length, emit.length].map(String),
      ban === undefined ? '' : String(ban?.untilMs ?? 0),
      ban?.note ? JSON.stringify({ untilMs: ban.untilMs, ...ban.note }) : '',
      ...entries.map((entry) => JSON.stringify(entry)),
      ...withdraw.flatMap((event) => [pendingField(event), event]),
      ...emit.flatMap(pendingArgs),
      ...fields,
    ];
    return OUTCOMES[Number((await this.#link.run(COMMIT, names, args)).toString())]!;
  }

  /**
   * Comes before the record is written: an index entry without a record is skipped, but a record without an index entry
   * would be missing from lists.
   */
  async #putInIndex(ids: readonly string[]): Promise<void> {
    await this.#link.command('zadd', this.#type.index, ...ids.flatMap((id) => ['0', id]));
  }

  /**
   * Comes before a correction is written: from then on, a version that does not know corrections must not open the
   * store.
   */
  async #noteCorrected(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#replicas.confirmed(STORE, () => this.#link.command('hset', STORE, 'format', FORMAT_WITH_CORRECTIONS));
    await this.#link.command('zadd', this.#type.correctedIndex, ...ids.flatMap((id) => ['0', id]));
  }
}
