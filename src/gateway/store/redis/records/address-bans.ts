import { SHARED_ADDRESSES } from '../admit/plans.js';
import type { AddressBan, BanStore } from '../../port.js';
import { readState, STATE_BYTES, viewOf } from '../../state.js';
import type { Link } from '../link/link.js';
import type { Replicas } from '../link/replicas.js';
import { loadScript } from '../link/script.js';
import { subjectName } from '../names.js';
import { pageOf } from '../outbox/store.js';
import { BAN_INDEX, noteBan } from './bans.js';

const LIFT = loadScript('records/lift-address', { ...SHARED_ADDRESSES, STATE_BYTES });

/** The index says whom to look at, and the state of each whether the ban is in force. */
export function addressBans(link: Link, replicas: Replicas): Pick<BanStore, 'addresses' | 'liftAddress'> {
  const read = async (address: string): Promise<AddressBan | undefined> => {
    const group = groupOf(address);
    const names = [address, SHARED_ADDRESSES.SHARED_ROW];
    const [own = null, shared = null] = (await link.command('hmget', group, ...names)) as (Buffer | null)[];
    const state = own ?? shared;
    if (state === null) return undefined;
    const { bannedUntilMs: untilMs, banLevel: level } = readState(viewOf(state), state.byteOffset);
    return untilMs > link.storeMs(group) ? { address, untilMs, level } : undefined;
  };
  return {
    async addresses(cursor, count) {
      const from = cursor ?? `${Math.round(link.storeMs(BAN_INDEX.address))} `;
      const page = await pageOf(link, BAN_INDEX.address, 'all', from, count);
      const bans = await Promise.all(page.map(({ id }) => read(id)));
      const last = page.length < count ? undefined : page.at(-1);
      return {
        bans: bans.filter((ban) => ban !== undefined),
        cursor: last === undefined ? null : `${last.score} ${last.id}`,
      };
    },
    async liftAddress(address) {
      const group = groupOf(address);
      const answer = await replicas.confirmed(group, () => link.run(LIFT, [group], [address]));
      await noteBan(link, 'address', address, 0);
      return answer.toString() === '1';
    },
  };
}

function groupOf(address: string): string {
  return subjectName({ kind: 'address', address });
}
