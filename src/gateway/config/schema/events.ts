import { isIP } from 'node:net';
import { z } from 'zod';
import { isLocalAddress } from '../../../shared/addresses.js';
import { bool, duration, mapping, type Immutable } from './values.js';

// Messages never show any part of the address: its path or query may hold a secret.
const FORM = 'must be an address such as https://hooks.example.com/petgate, without user, password and fragment';

const url = z.string({ error: FORM }).refine((given) => {
  if (!/^https?:\/\/[^\s@\\]+$/.test(given) || given.includes('#') || !URL.canParse(given)) return false;
  const { username, password, hostname } = new URL(given);
  return username === '' && password === '' && hostname !== '';
}, FORM);

/** Returns whether the address needs `allow_local`: plain HTTP, or an IP address that is not on the public internet. */
function needsLeave(given: string): boolean {
  const host = new URL(given).hostname.replace(/^\[|\]$/g, '');
  return !given.startsWith('https:') || (isIP(host) !== 0 && isLocalAddress(host));
}

/** `events` of gateway.yaml. */
export const events = mapping({
  url: url.describe('Where each event is sent by POST, as CloudEvents and Standard Webhooks say.'),
  allow_local: bool
    .prefault(false)
    .describe('Whether it may be plain HTTP, and lead to this machine or a private network.'),
  timeout: duration('100ms', '1m').prefault('15s').describe('How long an attempt may take.'),
  retry: duration('100ms', '1h')
    .prefault('5s')
    .describe('About how long after the first failed attempt the next is; then twice as long, and so on up to 24h.'),
}).refine((given) => given.allow_local || !needsLeave(given.url), {
  path: ['url'],
  error: 'must begin with https:// and not lead to a local address, unless allow_local is true',
});
export type EventsSettings = Immutable<z.output<typeof events>>;
