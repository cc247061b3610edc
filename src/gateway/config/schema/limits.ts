import type { z } from 'zod';
import { duration, LARGEST_BODY, LONGEST, mapping, share, size, whole, type Immutable } from './values.js';

/** `limits` of gateway.yaml. */
export const limits = mapping({
  header_size: size('1KiB', '1MiB').prefault('16KiB').describe('All header fields of a request; 431 above.'),
  header_fields: whole(10, 1000).prefault(100).describe('Number of header fields; 431 above.'),
  url_size: size('256B', '64KiB').prefault('8KiB').describe('Path and query; 414 above.'),
  body_size: size('1B', LARGEST_BODY)
    .optional()
    .describe(
      'Body of a request; 413 above. An operation may say otherwise (body_size of x-petgate). ' +
        'Left out: 1MiB for pets and store, 10MiB for all other upstreams.',
    ),
  headers_time: duration('100ms', '5m').prefault('10s').describe('For a whole header to arrive; 408 after.'),
  request_time: duration('100ms', LONGEST)
    .prefault('30s')
    .describe('For a whole request to arrive, of a body above 64 KiB for each piece (1 KiB at least); 408 after.'),
  keep_alive: duration('100ms', '1h').prefault('65s').describe('How long an idle connection stays open.'),
  connections: whole(1, 1_000_000).prefault(10_000).describe('Client connections per process.'),
  requests_per_connection: whole(1, 100_000_000).prefault(10_000).describe('Then the connection is closed.'),
  exchanges: whole(1, 1_000_000).prefault(1000).describe('Requests at once per process; 503 overloaded above.'),
  streams: whole(1, 1000).prefault(100).describe('Requests at once per HTTP/2 connection.'),
  waiting: whole(1, 1_000_000)
    .prefault(1000)
    .describe(
      'Concurrent requests per process, in addition to exchanges, that wait for their client: for its body, or ' +
        'until it has read the response; above this 503 overloaded, or cut off.',
    ),
  bodies_size: size('1B', '1TiB')
    .prefault('256MiB')
    .describe('Bodies held at once per process, all together; 503 overloaded above.'),
  caller_share: share
    .prefault(0.25)
    .describe(
      'Part of waiting and bodies_size that one address may take, and of the connections of an operation and of an ' +
        'upstream that one key, customer or address without a key may have.',
    ),
  pipelined: whole(0, 1_000_000)
    .prefault(1000)
    .describe(
      'Requests that wait behind another on their connection, per process; above it the last of a connection ends it.',
    ),
  tunnels: whole(0, 1_000_000).prefault(1000).describe('WebSocket tunnels at once per process; 503 overloaded above.'),
  tunnel_idle: duration('100ms', LONGEST).prefault('5m').describe('How long a tunnel may carry nothing, either way.'),
  tunnel_lifetime: duration('100ms', LONGEST).prefault('1h').describe('How long a tunnel may last at all.'),
  // Otherwise Node refuses to create the server.
}).refine((given) => given.headers_time <= given.request_time, {
  path: ['headers_time'],
  error: 'must not be longer than request_time',
});
export type EdgeLimits = Immutable<z.output<typeof limits>>;
