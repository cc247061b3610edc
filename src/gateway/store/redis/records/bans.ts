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

/** Names of the sorted sets of who is banned, each with the end of the ban, ms. */
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

/** The index says whom to look at, the earliest end first, and what `read` gives whether a ban is in force. */
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

/** The note that stands by the ban until `untilMs`. A later one that began by itself has none. */
function noteOf(text: string, untilMs: number): BanNote | null {
  if (text === '') return null;
  const { untilMs: ofBan, ...note } = JSON.parse(text) as BanNote & { readonly untilMs: number };
  return ofBan === untilMs ? note : null;
}

/** Who is banned stands with each subject; this index beside it, in a step of its own, is there to be counted. */
export async function noteBan(link: Link, kind: Subject['kind'], who: string, untilMs: number): Promise<void> {
  await link.run(NOTE, [BAN_INDEX[kind]], [who, untilMs.toString()]);
}

/**
 * Notes the bans that began with these verdicts. Nobody waits for it: an index that misses one is better than a late
 * answer.
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
