import { isIP } from 'node:net';
import { z } from 'zod';
import { createNetworks, isLocalAddress } from '../../../shared/addresses.js';
import { bool, duration, mapping, network } from './values.js';

// No part of the address stands in a message: its path or query may hold a secret.
export const WEBHOOK_FORM =
  'must be an address such as https://hooks.example.com/petgate, without user, password and fragment';

const url = z.string({ error: WEBHOOK_FORM }).refine((given) => {
  if (!/^https?:\/\/[^\s@\\]+$/.test(given) || given.includes('#') || !URL.canParse(given)) return false;
  const { username, password, hostname } = new URL(given);
  return username === '' && password === '' && hostname !== '';
}, WEBHOOK_FORM);

/** Whether the address is one that needs leave: plain HTTP, or an IP address that is not of the public internet. */
function needsLeave(given: string): boolean {
  const host = hostOf(given);
  return !given.startsWith('https:') || (isIP(host) !== 0 && isLocalAddress(host));
}

function hostOf(given: string): string {
  return new URL(given).hostname.replace(/^\[|\]$/g, '');
}

const NEEDS_LEAVE = 'must begin with https:// and not lead to a local address, unless allow_local is true';
const NEEDS_NETWORK =
  'must begin with https:// and not lead to a local address, unless events.customer_networks has that';

/**
 * What is wrong with the address of a customer's webhook; null for nothing. Never repeats it. Where a name leads is
 * seen when it is called.
 * @param networks inside, that customers' webhooks may reach
 */
export function webhookProblem(given: string, networks: readonly string[]): string | null {
  const read = url.safeParse(given);
  if (!read.success) return WEBHOOK_FORM;
  if (!needsLeave(read.data)) return null;
  const host = hostOf(read.data);
  const isAllowed = isIP(host) === 0 ? networks.length > 0 : createNetworks(networks)(host);
  return isAllowed ? null : NEEDS_NETWORK;
}

/** `events` of gateway.yaml. */
export const events = mapping({
  url: url.describe('Where each event is sent by POST, as CloudEvents and Standard Webhooks say.'),
  allow_local: bool
    .prefault(false)
    .describe(
      'Whether it may be plain HTTP, and lead to this machine or a private network. Not so those of customers.',
    ),
  customer_networks: z
    .array(network, { error: 'must be a list of addresses or blocks' })
    .prefault([])
    .describe("Local networks that customers' webhooks may reach, by plain HTTP too; no variable sets it."),
  timeout: duration('100ms', '1m').prefault('15s').describe('How long an attempt may take.'),
  retry: duration('100ms', '1h')
    .prefault('5s')
    .describe('About how long after the first failed attempt the next is; then twice as long, and so on up to 24h.'),
}).refine((given) => given.allow_local || !needsLeave(given.url), {
  path: ['url'],
  error: NEEDS_LEAVE,
});
