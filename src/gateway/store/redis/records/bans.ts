import type { GatewayEvent } from '../../outbox/event.js';
import type { AdmissionRequest, Subject } from '../../../admission/port.js';
import type { BanNote, BansInForce, BanStore } from '../../port.js';
import type { Verdict } from '../../../admission/verdict.js';
import type { Link } from '../link/link.js';
import { pendingArgs } from '../outbox/fields.js';
import type { PendingEvents } from '../outbox/pending.js';
import { eventsName, keyName } from '../names.js';
import type { Replicas } from '../link/replicas.js';
import { loadScript } from '../link/script.js';
import { readState, STATE_BYTES, viewOf } from '../../state.js';

const SET_BAN = loadScript('records/set-ban');

const READ_BAN = loadScript('records/read-ban');

/** Names of the sorted sets of who is banned, each with the end of the ban, ms. */
export const BAN_INDEX: Readonly<Record<Subject['kind'], string>> = {
  key: 'petgate:bans:key',
  address: 'petgate:bans:address',
};

const NOTE = loadScript('records/note-ban');

const COUNT = loadScript('records/count-bans');

export function banStore(
  link: Link,
  replicas: Replicas,
  pending: PendingEvents,
): Omit<BanStore, 'addresses' | 'liftAddress'> {
  const set = (keyId: string, untilMs: number, note: string, event?: GatewayEvent): Promise<Buffer> => {
    const names = [keyName(keyId), ...(event === undefined ? [] : [eventsName(keyId)])];
    const args = [untilMs.toString(), note, ...(event === undefined ? [] : pendingArgs(event))];
    return replicas.confirmed(keyName(keyId), () => link.run(SET_BAN, names, args));
  };
  return {
    async read(keyId) {
      const answer = await link.run(READ_BAN, [keyName(keyId)], []);
      const nowMs = answer.readDoubleLE(0);
      if (answer.length === 8) return undefined;
      const { bannedUntilMs, banLevel } = readState(viewOf(answer), answer.byteOffset + 8);
      const note = noteOf(answer.toString('utf8', 8 + STATE_BYTES), bannedUntilMs);
      return bannedUntilMs > nowMs ? { keyId, untilMs: bannedUntilMs, level: banLevel, note } : undefined;
    },
    async start(keyId, untilMs, note, event) {
      const stored = note === undefined ? '' : JSON.stringify({ untilMs, ...note });
      await set(keyId, untilMs, stored, event).finally(() => {
        if (event !== undefined) pending.add([keyId]);
      });
      await noteBan(link, 'key', keyId, untilMs);
    },
    async lift(keyId) {
      const answer = await set(keyId, 0, '');
      await noteBan(link, 'key', keyId, 0);
      return answer.toString() === '1';
    },
    inForce: () => bansInForce(link),
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
