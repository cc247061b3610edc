import { isDeepStrictEqual } from 'node:util';
import { freshState } from '../../../admission/decide.js';
import { packedWindows, packState, unpackWindows } from '../../subject-state.js';
import { VersionConflict } from '../../port.js';
import { untilUncontested } from '../../retry.js';
import { comparison, mergedHistory, mergedState, spentTogether } from '../../records/snapshot.js';
import type { ArchivedDays, AuditEntry, Restored, Snapshot, StoredRecord } from '../../records/record.js';
import { readState, viewOf } from '../../state.js';
import { rowsIn } from '../ledger/rows.js';
import { archivedFields, archivedIn, missingDays } from '../ledger/archived-days.js';
import { markArchived } from '../ledger/moved-days.js';
import type { Raise } from '../ledger/transfer.js';
import { pageOf } from '../link/ids.js';
import type { Link } from '../link/link.js';
import { loadScript } from '../link/script.js';
import { dayNumber, dayNumberOf, dayNumbers, historyName, ledgerName } from '../names.js';
import { noteBan } from './bans.js';
import { announceChange } from './changes.js';
import type { RecordType } from './record-type.js';

const READ = loadScript('records/read-snapshot');

const RESTORE = loadScript('records/restore');

const NOTHING = Buffer.alloc(0);
const LENGTH_BYTES = 4;

/** What is here of a key or a customer, with the very bytes that tell whether it is still as it was read. */
interface Read<R extends StoredRecord> extends Omit<Snapshot<R>, 'record'> {
  /** Undefined where there is no record, though there may be what was spent before it came. */
  readonly record: R | undefined;
  readonly archived: ArchivedDays;
  readonly raw: readonly Buffer[];
}

/** Up to `count` behind an id, in the order of their ids. */
export async function readSnapshots<R extends StoredRecord>(
  link: Link,
  type: RecordType<R>,
  afterId: string | null,
  count: number,
  fromDay: string,
): Promise<readonly Snapshot<R>[]> {
  const days = dayNumbers(dayNumberOf(fromDay), dayNumber(link.storeMs(type.index)));
  return pageOf(link, type.index, afterId, count, async (id) => {
    const { record, archived, history, state, beside, usage } = await readSnapshot(link, type, id, days);
    if (record === undefined) return undefined;
    const marks = Object.keys(archived).length === 0 ? {} : { archived };
    return { record, history, state, beside, usage, ...marks };
  });
}

async function readSnapshot<R extends StoredRecord>(
  link: Link,
  type: RecordType<R>,
  id: string,
  days: readonly number[],
  isFlushed = type.flush === undefined,
): Promise<Read<R>> {
  const names = [type.nameOf(id), historyName(id), ...days.map((day) => ledgerName(id, day))];
  const [hash = [], history = [], ...ledgers] = textsIn(await link.run(READ, names, []));
  const fields = new Map(pairsOf(hash).map(([field, value]) => [field.toString(), value]));
  if (!isFlushed && fields.has('telling')) {
    await type.flush!(id);
    return readSnapshot(link, type, id, days, true);
  }
  const texts = new Map([...fields].map(([field, value]) => [field, value.toString()]));
  const [raw, windows] = [fields.get('state') ?? NOTHING, fields.get('windows') ?? NOTHING];
  const state = raw.length === 0 ? freshState() : readState(viewOf(raw), raw.byteOffset);
  if (windows.length > 0) state.operationWindows = unpackWindows(windows);
  const beside = texts.get(type.beside) ?? '';
  return {
    record: type.recordIn(id, texts),
    history: history.map((entry) => JSON.parse(entry.toString()) as AuditEntry),
    state,
    beside: beside === '' ? null : (JSON.parse(beside) as object),
    usage: ledgers.flatMap((ledger, n) =>
      rowsIn(
        id,
        days[n]!,
        pairsOf(ledger).map(([field, value]) => [field.toString(), value.toString()]),
      ),
    ),
    archived: archivedIn(fields),
    raw: [fields.get('version') ?? NOTHING, raw, windows],
  };
}

/** Puts in one of them. Rejects with VersionConflict where it is changed again and again meanwhile. */
export async function restoreSnapshot<R extends StoredRecord>(
  link: Link,
  type: RecordType<R>,
  given: Snapshot<R>,
  raise: Raise,
): Promise<Restored> {
  const { id } = given.record;
  return untilUncontested(async () => {
    const { record, ...here } = await readSnapshot(link, type, id, []);
    const how = comparison(record && { record, history: here.history }, given);
    if (how === 'different') return how;
    const { raw, state, history } = here;
    const merged = {
      // What is here of a key that is not known was spent since, and elsewhere.
      state:
        how === 'added'
          ? spentTogether(mergedState(freshState(), given.state, how), state)
          : mergedState(state, given.state, how),
      history: mergedHistory(history, given.history, how),
    };
    const isSame = isDeepStrictEqual(merged, { state, history });
    if (how === 'changed') await announceChange(link, type, id, true);
    const replaces = how === 'added' || how === 'changed';
    if ((replaces || !isSame) && !(await put(link, type, { ...given, ...merged }, replaces, raw, history.length)))
      throw new VersionConflict(`${id} is being changed by somebody else; try again`);
    const { bannedUntilMs } = merged.state;
    if (bannedUntilMs > 0 && !isDeepStrictEqual(merged.state, state)) await noteBan(link, 'key', id, bannedUntilMs);
    if (how !== 'added') await markArchived(link, id, missingDays(here.archived, given.archived ?? {}));
    const grown = (await raise(given.usage)) > 0 || !isSame;
    return how === 'unchanged' && grown ? 'changed' : how;
  });
}

/** @param replaces whether the record is another one too */
async function put<R extends StoredRecord>(
  link: Link,
  type: RecordType<R>,
  { record, history, beside, state, archived = {} }: Snapshot<R>,
  replaces: boolean,
  raw: readonly Buffer[],
  entriesRead: number,
): Promise<boolean> {
  const { operationWindows: own } = state;
  const fields = [
    ...['state', packState({ ...state, operationWindows: null })],
    ...(own === null ? [] : ['windows', packedWindows(own)]),
    // Days of one that is here may be whole here.
    ...(raw[0]!.length === 0 ? archivedFields(archived) : []),
    ...(replaces ? [...type.fieldsOf(record), type.beside, beside === null ? '' : JSON.stringify(beside)] : []),
  ];
  const entries = history.map((entry) => JSON.stringify(entry));
  const args = [...raw, entriesRead.toString(), entries.length.toString(), ...entries, ...fields];
  return (await link.run(RESTORE, [type.nameOf(record.id), historyName(record.id)], args)).toString() === '1';
}

/** Lists of texts: how many, and each behind its length. */
function textsIn(bytes: Buffer): readonly (readonly Buffer[])[] {
  const lists: Buffer[][] = [];
  let at = 0;
  const next = (): number => bytes.readUInt32LE((at += LENGTH_BYTES) - LENGTH_BYTES);
  while (at < bytes.length)
    lists.push(
      Array.from({ length: next() }, () => {
        const length = next();
        return bytes.subarray(at, (at += length));
      }),
    );
  return lists;
}

function pairsOf(texts: readonly Buffer[]): readonly (readonly [Buffer, Buffer])[] {
  return Array.from({ length: texts.length / 2 }, (_, n) => [texts[2 * n]!, texts[2 * n + 1]!]);
}
