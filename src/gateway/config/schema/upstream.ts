import { z } from 'zod';
import { duration, LONGEST, mapping, text, whole } from './values.js';

const address = z
  .string({ error: 'must be an address such as http://127.0.0.1:8081 or unix:/run/pets.sock' })
  .refine(isUpstreamAddress, 'must be http://host:port, without path, query or password, or unix:/path')
  .describe('http://host:port or unix:/path');

const health = mapping({
  path: text('must be a path such as /readyz', /^\/[\x21-\x7e]{0,1023}$/).describe(
    'A GET of it answers 2xx while the address wants requests.',
  ),
  every: duration('100ms', '1h').prefault('2s').describe('How often it is asked.'),
  deadline: duration('1ms', '1m').prefault('1s').describe('How long an answer may take.'),
});

const breaker = mapping({
  failures: whole(1, 10_000)
    .prefault(5)
    .describe('So many attempts in a row that got no answer open it: the address is passed over.'),
  open: duration('10ms', '1h')
    .prefault('1s')
    .describe('Then one request tries the address; the next after twice that time, and so on.'),
  cap: duration('10ms', '1h').prefault('10s').describe('The longest time from trial to trial.'),
}).refine((given) => given.cap >= given.open, { path: ['cap'], error: 'must not be shorter than open' });

/** One of `upstreams` of gateway.yaml. */
export const upstream = mapping({
  addresses: z
    .array(address, { error: 'must be a list of addresses' })
    .max(256, 'must be at most 256 addresses')
    .prefault([])
    .describe('Where the service answers. None: its operations answer 501.'),
  health: health
    .optional()
    .describe(
      'Each address is asked whether it wants requests; one that does not is passed over while another does. ' +
        'Left out: health is inferred from the requests sent to it.',
    ),
  breaker: z
    .union([z.literal('off'), breaker], { error: 'must be off, or a mapping of failures, open, cap' })
    .prefault({})
    .describe(
      'An address whose requests fail is passed over until one goes well; off: only the health check passes over any.',
    ),
  connections: whole(1, 10_000)
    .prefault(256)
    .describe('Connections per address; one operation has three quarters of them at most.'),
  connect: duration('1ms', '1m').prefault('1s').describe('Deadline of a connection attempt.'),
  deadline: duration('1ms', LONGEST).prefault('15s').describe('From dispatch to the last byte of the answer.'),
});

function isUpstreamAddress(given: string): boolean {
  if (given.startsWith('unix:')) return /^unix:\/[^\0]+$/.test(given);
  if (!/^http:\/\/[^/?#@\\\s]+\/?$/.test(given) || !URL.canParse(given)) return false;
  return new URL(given).hostname !== '';
}
