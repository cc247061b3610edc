import { freshState } from '../../../admission/decide.js';
import { unpackWindows, readState, viewOf } from '../../state.js';
import type { ArchivedDays, AuditEntry, Snapshot, StoredRecord } from '../../records/record.js';
import type { Current } from '../../records/record-store.js';
import { archivedIn } from '../ledger/archived-days.js';
import { rowsIn } from '../ledger/usage.js';
import type { Link } from '../link/link.js';
import { loadScript } from '../link/script.js';
import { historyName, ledgerName } from '../keyspace/names.js';

const READ = loadScript('records/read-snapshot');
const NOTHING = Buffer.alloc(0);
const LENGTH_BYTES = 4;

/** What differs between keys and customers. */
export interface RecordType<R> {
  /** The sorted set of all IDs. */
  readonly index: string;
  /** The sorted set of the IDs whose history may have corrections. */
  readonly correctedIndex: string;
  readonly nameOf: (id: string) => string;
  /** The record in the fields of its hash; undefined if there is none. */
  readonly recordIn: (id: string, fields: ReadonlyMap<string, string>) => R | undefined;
  /** Fields and values of the hash. */
  readonly fieldsOf: (record: R) => readonly string[];
  /** The field with the note of a ban, which moves with a key and is emptied by erasing. */
  readonly noteField: string;
  /** Moves noted automatic bans into the history; absent for records that are never banned. */
  readonly flush?: (id: string) => Promise<void>;
}

/** A record with its data, and the bytes that show whether it is still as it was read: version, state and windows. */
export interface CurrentInRedis<R extends StoredRecord> extends Current<R>, Pick<Snapshot<R>, 'banNote' | 'usage'> {
  readonly archived: ArchivedDays;
  readonly raw: readonly Buffer[];
}

/** Reads a record with its data, and its ledger of `days`, in one step. */
export async function find<R extends StoredRecord>(
  link: Link,
  type: RecordType<R>,
  id: string,
  days: readonly number[],
  isFlushed = type.flush === undefined,
): Promise<CurrentInRedis<R>> {
  const names = [type.nameOf(id), historyName(id), ...days.map((day) => ledgerName(id, day))];
  const [hash = [], history = [], ...ledgers] = textsIn(await link.run(READ, names, []));
  const fields = new Map(pairsOf(hash).map(([field, value]) => [field.toString(), value]));
  if (!isFlushed && fields.has('telling')) {
    await type.flush!(id);
    return find(link, type, id, days, true);
  }
  const texts = new Map([...fields].map(([field, value]) => [field, value.toString()]));
  const [raw, windows] = [fields.get('state') ?? NOTHING, fields.get('windows') ?? NOTHING];
  const state = raw.length === 0 ? freshState() : readState(viewOf(raw), raw.byteOffset);
  if (windows.length > 0) state.operationWindows = unpackWindows(windows);
  const banNote = texts.get(type.noteField) ?? '';
  const usage = ledgers.flatMap((ledger, n) => {
    const counts = pairsOf(ledger).map(([field, value]) => [field.toString(), value.toString()] as const);
    return rowsIn(id, days[n]!, counts);
  });
  return {
    record: type.recordIn(id, texts),
    history: history.map((entry) => JSON.parse(entry.toString()) as AuditEntry),
    state,
    banNote: banNote === '' ? null : (JSON.parse(banNote) as object),
    usage,
    archived: archivedIn(fields),
    raw: [fields.get('version') ?? Buffer.from('0'), raw, windows],
  };
}

/** Parses lists of texts: each begins with their number, and each text with its length. */
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
