import type { AdmissionRequest, Subject } from '../../../admission/port.js';
import type { BanPage, BansInForce, BanStore } from '../../port.js';
import type { BanNote } from '../../records/key.js';
import type { Verdict } from '../../../admission/verdict.js';
import type { Link } from '../link/link.js';
import { pageOf } from '../outbox/store.js';
import { keyName } from '../names.js';
import { loadScript } from '../link/script.js';
import { readState, STATE_BYTES, viewOf } from '../../state.js';

const READ_BAN = loadScript('records/read-ban');

/** Names of the sorted sets of banned subjects, by the end of the ban, ms. */
const BAN_INDEX: Readonly<Record<Subject['kind'], string>> = {
  key: 'petgate:bans:key',
  address: 'petgate:bans:address',
};

const NOTE = loadScript('records/note-ban');

const COUNT = loadScript('records/count-bans');

export function banStore(link: Link): Pick<BanStore, 'read' | 'keys' | 'inForce'> {
  const read: BanStore['read'] = async (keyId) => {
    const answer = await link.run(READ_BAN, [keyName(keyId)], []);
    const nowMs = answer.readDoubleLE(0);
    if (answer.length === 8) return undefined;
    const { bannedUntilMs, banLevel } = readState(viewOf(answer), answer.byteOffset + 8);
    const note = noteOf(answer.toString('utf8', 8 + STATE_BYTES), bannedUntilMs);
    return bannedUntilMs > nowMs ? { keyId, untilMs: bannedUntilMs, level: banLevel, note } : undefined;
  };
  return {
    read,
    keys: (cursor, count) => banPage(link, 'key', cursor, count, read),
    inForce: () => bansInForce(link),
  };
}

/**
 * Returns a page of the bans in force. The index says which subjects to read, the earliest end first; `read` returns
 * undefined if the ban is no longer in force.
 */
export async function banPage<B>(
  link: Link,
  kind: Subject['kind'],
  cursor: string | null,
  count: number,
  read: (who: string) => Promise<B | undefined>,
): Promise<BanPage<B>> {
  const from = cursor ?? `${Math.round(link.storeMs(BAN_INDEX[kind]))} `;
  const page = await pageOf(link, BAN_INDEX[kind], 'all', from, count);
  const bans = await Promise.all(page.map(({ id }) => read(id)));
  const last = page.length < count ? undefined : page.at(-1);
  return {
    bans: bans.filter((ban) => ban !== undefined),
    cursor: last === undefined ? null : `${last.score} ${last.id}`,
  };
}

/**
 * Returns the note of the ban that ends at `untilMs`; null if the stored note is of an earlier ban, because automatic
 * bans have none.
 */
function noteOf(text: string, untilMs: number): BanNote | null {
  if (text === '') return null;
  const { untilMs: ofBan, ...note } = JSON.parse(text) as BanNote & { readonly untilMs: number };
  return ofBan === untilMs ? note : null;
}

/**
 * Enters a ban in the index, or removes it if `untilMs` is 0, in a separate step. The index serves counts and lists;
 * what decides is the state of each subject.
 */
export async function noteBan(link: Link, kind: Subject['kind'], who: string, untilMs: number): Promise<void> {
  await link.run(NOTE, [BAN_INDEX[kind]], [who, untilMs.toString()]);
}

/**
 * Enters the bans that began with these verdicts in the index, without waiting for it: a ban missing from the index is
 * better than a late verdict.
 */
export function noteStarted(link: Link, requests: readonly AdmissionRequest[], verdicts: readonly Verdict[]): void {
  for (const [index, verdict] of verdicts.entries()) {
    if (verdict.outcome !== 'banned' || !verdict.started) continue;
    const { subject } = requests[index]!;
    noteBan(link, subject.kind, subject.kind === 'key' ? subject.id : subject.address, verdict.bannedUntilMs).catch(
      () => undefined,
    );
  }
}

async function bansInForce(link: Link): Promise<BansInForce> {
  const count = async (kind: Subject['kind']): Promise<number> =>
    Number((await link.run(COUNT, [BAN_INDEX[kind]], [])).toString());
  const [keys, addresses] = await Promise.all([count('key'), count('address')]);
  return { keys, addresses };
}
