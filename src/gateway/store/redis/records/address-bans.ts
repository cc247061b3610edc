import { SHARED_ADDRESSES } from '../admit/plans.js';
import type { AddressBan, BanStore } from '../../port.js';
import { readState, STATE_BYTES, viewOf } from '../../state.js';
import type { Link } from '../link/link.js';
import type { Replicas } from '../link/replicas.js';
import { loadScript } from '../link/script.js';
import { subjectName } from '../names.js';
import { banPage, noteBan } from './bans.js';

const LIFT = loadScript('records/lift-address', { ...SHARED_ADDRESSES, STATE_BYTES });

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
    addresses: (cursor, count) => banPage(link, 'address', cursor, count, read),
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
