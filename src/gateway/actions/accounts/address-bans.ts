import { isIP } from 'node:net';
import { isoOrNull } from '../../accounts/edits.js';
import { bucketOf, createAddressReader } from '../../edge/client-address.js';
import { AdminRefusal } from '../answer.js';
import { banPaging, storeCursor, textCursor } from '../input/query.js';
import { AddressBanPage } from '../schemas.js';
import { action, type Action } from '../action.js';

const BANS = '/admin/v1/bans/addresses';

/** The embedded store groups addresses into such rows when it has no room for each. */
const SHARED = /^~\d{1,4}$/;
const reader = createAddressReader([]);

/** Bans of addresses that sent no valid key. Addresses are personal data: read-only roles and logs do not show them. */
export const ADDRESS_BAN_ACTIONS: readonly Action[] = [
  action(`GET ${BANS}`, 'keys', 'List the bans of addresses in force', {
    commands: {
      usage: 'bans list --addresses',
      example: '--addresses',
      prints: { list: 'bans', columns: ['address', 'until', 'level'], none: 'No bans of addresses.' },
    },
    query: banPaging,
    gives: AddressBanPage,
    handle: async ({ parts: { engine }, query: { limit, cursor } }) => {
      const page = await engine.bans.addresses(storeCursor(cursor), limit);
      const bans = page.bans.map(({ address, untilMs, level }) => ({
        address: addressOf(address),
        until: isoOrNull(untilMs),
        level,
      }));
      return { json: { bans, cursor: textCursor(page.cursor) } };
    },
  }),
  action(`DELETE ${BANS}/{id}`, 'keys', 'Lift the ban of an address, and forget what led to it', {
    commands: {
      usage: 'bans lift <id>',
      example: '2001:db8:7:1::/64',
      when: ({ id = '' }) => isAddress(id),
      prints: { done: 'The ban of {id} is lifted.' },
    },
    forms: {
      on: '/bans',
      name: 'addresses/lifted',
      button: 'Lift',
      isApart: true,
      done: 'The ban is lifted, and what led to it forgotten.',
    },
    handle: async ({ parts: { engine }, id }) => {
      if (!(await engine.bans.liftAddress(bucketIn(id))))
        throw new AdminRefusal(404, 'not_banned', 'No ban of this address is in force.');
    },
  }),
];

/** Whether `text` is an address: IDs of keys have none of these characters. */
export function isAddress(text: string): boolean {
  return /[.:~]/.test(text);
}

/** Formats a stored address; IPv6 addresses are stored as their /64. */
function addressOf(bucket: string): string {
  return bucket.includes(':') ? `${bucket}::/64` : bucket;
}

/** Returns the name that the store uses for an address. Throws AdminRefusal 400. */
function bucketIn(text: string): string {
  const address = text.includes(':') && text.endsWith('/64') ? text.slice(0, -3) : text;
  if (isIP(address) !== 0) return bucketOf(reader.read(address, null));
  if (SHARED.test(text)) return text;
  throw new AdminRefusal(400, 'invalid_address', 'Give an address such as 192.0.2.7, 2001:db8::7 or 2001:db8::/64.');
}
