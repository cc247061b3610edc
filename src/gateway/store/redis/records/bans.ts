import type { AdmissionRequest, Subject } from '../../../admission/port.js';
import type { AddressBan, BanPage, BanStore } from '../../port.js';
import { noteIn, type Ban } from '../../records/key.js';
import type { Verdict } from '../../../admission/verdict.js';
import { SHARED_ADDRESSES } from '../admit/plans.js';
import type { Link } from '../link/link.js';
import type { Replicas } from '../link/replicas.js';
import { pageOf } from '../outbox/outbox.js';
import { keyName, subjectName } from '../keyspace/names.js';
import { loadScript } from '../link/script.js';
import { readState, STATE_BYTES, viewOf } from '../../state.js';

const LIFT = loadScript('records/lift-address', { ...SHARED_ADDRESSES, STATE_BYTES });

/** Names of the sorted sets of banned subjects, by the end of the ban, ms. */
const BAN_INDEX: Readonly<Record<Subject['kind'], string>> = {
  key: 'petgate:bans:key',
  address: 'petgate:bans:address',
};

const NOTE = loadScript('records/note-ban');

export function bansOf(link: Link, replicas: Replicas): BanStore {
  const ofKey = async (keyId: string): Promise<Ban | undefined> => {
    const name = keyName(keyId);
    const [state = null, note] = (await link.command('hmget', name, 'state', 'ban')) as (Buffer | null)[];
    const ban = inForce(link, name, state);
    return ban && { keyId, ...ban, note: noteIn(note?.toString() ?? '', ban.untilMs) };
  };
  const ofAddress = async (address: string): Promise<AddressBan | undefined> => {
    const group = subjectName({ kind: 'address', address });
    const names = [address, SHARED_ADDRESSES.SHARED_ROW];
    const [own = null, shared = null] = (await link.command('hmget', group, ...names)) as (Buffer | null)[];
    const ban = inForce(link, group, own ?? shared);
    return ban && { address, ...ban };
  };
  const count = async (kind: Subject['kind']): Promise<number> => {
    const name = BAN_INDEX[kind];
    return Number(await link.command('zcount', name, `(${link.storeMs(name)}`, '+inf'));
  };
  return {
    read: ofKey,
    keys: (cursor, limit) => banPage(link, 'key', cursor, limit, ofKey),
    addresses: (cursor, limit) => banPage(link, 'address', cursor, limit, ofAddress),
    async liftAddress(address) {
      const group = subjectName({ kind: 'address', address });
      const answer = await replicas.confirmed(group, () => link.run(LIFT, [group], [address]));
      await noteBan(link, 'address', address, 0);
      return answer.toString() === '1';
    },
    async inForce() {
      const [keys, addresses] = await Promise.all([count('key'), count('address')]);
      return { keys, addresses };
    },
  };
}

/** Returns the ban in a stored state; undefined if none is in force. @param name of the hash that has it */
function inForce(link: Link, name: string, stored: Buffer | null): Pick<Ban, 'untilMs' | 'level'> | undefined {
  if (stored === null) return undefined;
  const { bannedUntilMs: untilMs, banLevel: level } = readState(viewOf(stored), stored.byteOffset);
  return untilMs > link.storeMs(name) ? { untilMs, level } : undefined;
}

/**
 * Returns a page of the bans in force. The index says which subjects to read, the earliest end first; `read` returns
 * undefined if the ban is no longer in force.
 */
async function banPage<B>(
  link: Link,
  kind: Subject['kind'],
  cursor: string | null,
  count: number,
  read: (who: string) => Promise<B | undefined>,
): Promise<BanPage<B>> {
  const from = cursor ?? `${Math.round(link.storeMs(BAN_INDEX[kind]))} `;
  const page = await pageOf(link, BAN_INDEX[kind], 'all', from, count);
  const bans = await Promise.all(page.ids.map(read));
  return { bans: bans.filter((ban) => ban !== undefined), cursor: page.cursor };
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
