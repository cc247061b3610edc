import { isDeepStrictEqual } from 'node:util';
import { freshState } from '../../../admission/decide.js';
import { packedWindows, packState, unpackWindows } from '../../subject-state.js';
import { VersionConflict } from '../../port.js';
import { untilUncontested } from '../../retry.js';
import { comparison, mergedHistory, mergedState } from '../../records/snapshot.js';
import type { AuditEntry, Restored, Snapshot, StoredRecord } from '../../records/record.js';
import { readState, viewOf } from '../../state.js';
import { rowsIn } from '../ledger/rows.js';
import { raiseLedgers } from '../ledger/transfer.js';
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

/** A snapshot, with the very bytes that tell whether it is still as it was read. */
interface Read<R extends StoredRecord> {
  readonly snapshot: Snapshot<R>;
  readonly raw: readonly Buffer[];
}
/** Of a key or a customer that is not here. */
const nothing = () => ({ raw: [NOTHING, NOTHING, NOTHING], state: freshState(), history: [] });

/** Up to `count` behind an id, in the order of their ids. */
export async function readSnapshots<R extends StoredRecord>(
  link: Link,
  type: RecordType<R>,
  afterId: string | null,
  count: number,
  fromDay: string,
): Promise<readonly Snapshot<R>[]> {
  const days = dayNumbers(dayNumberOf(fromDay), dayNumber(link.storeMs(type.index)));
  return pageOf(link, type.index, afterId, count, async (id) => (await readSnapshot(link, type, id, days))?.snapshot);
}

async function readSnapshot<R extends StoredRecord>(
  link: Link,
  type: RecordType<R>,
  id: string,
  days: readonly number[],
  isFlushed = type.flush === undefined,
): Promise<Read<R> | undefined> {
  const names = [type.nameOf(id), historyName(id), ...days.map((day) => ledgerName(id, day))];
  const [hash = [], history = [], ...ledgers] = textsIn(await link.run(READ, names, []));
  const fields = new Map(pairsOf(hash).map(([field, value]) => [field.toString(), value]));
  if (!isFlushed && fields.has('telling')) {
    await type.flush!(id);
    return readSnapshot(link, type, id, days, true);
  }
  const texts = new Map([...fields].map(([field, value]) => [field, value.toString()]));
  const record = type.recordIn(id, texts);
  if (record === undefined) return undefined;
  const [raw, windows] = [fields.get('state') ?? NOTHING, fields.get('windows') ?? NOTHING];
  const state = raw.length === 0 ? freshState() : readState(viewOf(raw), raw.byteOffset);
  if (windows.length > 0) state.operationWindows = unpackWindows(windows);
  const beside = texts.get(type.beside) ?? '';
  const snapshot = {
    record,
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
  };
  return { snapshot, raw: [fields.get('version') ?? NOTHING, raw, windows] };
}

/** Puts in one of them. Rejects with VersionConflict where it is changed again and again meanwhile. */
export async function restoreSnapshot<R extends StoredRecord>(
  link: Link,
  type: RecordType<R>,
  given: Snapshot<R>,
  usageDays: number,
): Promise<Restored> {
  const { id } = given.record;
  return untilUncontested(async () => {
    const read = await readSnapshot(link, type, id, []);
    const how = comparison(read?.snapshot, given);
    if (how === 'different') return how;
    const { raw, state, history } = read === undefined ? nothing() : { raw: read.raw, ...read.snapshot };
    const merged = {
      state: mergedState(state, given.state, how),
      history: mergedHistory(history, given.history, how),
    };
    const isSame = isDeepStrictEqual(merged, { state, history });
    if (how === 'changed') await announceChange(link, type, id, true);
    const replaces = how === 'added' || how === 'changed';
    if ((replaces || !isSame) && !(await put(link, type, { ...given, ...merged }, replaces, raw, history.length)))
      throw new VersionConflict(`${id} is being changed by somebody else; try again`);
    const { bannedUntilMs } = merged.state;
    if (bannedUntilMs > 0 && !isDeepStrictEqual(merged.state, state)) await noteBan(link, 'key', id, bannedUntilMs);
    const grown = (await raiseLedgers(link, given.usage, usageDays)) > 0 || !isSame;
    return how === 'unchanged' && grown ? 'changed' : how;
  });
}

/** @param replaces whether the record is another one too */
async function put<R extends StoredRecord>(
  link: Link,
  type: RecordType<R>,
  { record, history, beside, state }: Snapshot<R>,
  replaces: boolean,
  raw: readonly Buffer[],
  entriesRead: number,
): Promise<boolean> {
  const { operationWindows: own } = state;
  const fields = [
    ...['state', packState({ ...state, operationWindows: null })],
    ...(own === null ? [] : ['windows', packedWindows(own)]),
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
