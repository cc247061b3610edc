import { isIP } from 'node:net';
import { z } from 'zod';
import { events } from './events.js';
import { originFault } from './origin.js';
import { duration, LONGEST, mapping, size, text, whole } from './values.js';

const HOST = /^(?:[0-9A-Fa-f:.]+|[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})?)$/;
const NAME = /^[a-z][a-z0-9_-]{0,31}$/;
const share = z
  .number({ error: 'must be a number from 0 to 1' })
  .min(0, 'must be a number from 0 to 1')
  .max(1, 'must be a number from 0 to 1');
const bool = z.boolean({ error: 'must be true or false' });
const host = text('must be a host name or an address, such as 127.0.0.1', HOST);
const port = whole(0, 65_535);
const path = text('must be a path', /^[^\0]+$/);
// Neither the whole of a Redis address nor a part of it stands in a message: it may hold a password.
const redis = text(
  'must be an address such as redis://host:6379, rediss://user:password@host:6379/0, redis+cluster://h1:6379,h2:6379 or redis+sentinel://h1:26379,h2:26379/name',
  /^rediss?(?:\+cluster|\+sentinel)?:\/\/[^\s/]+(?:\/\S*)?$/,
);
const archive = z
  .string({ error: 'must be auto, files, off, or an address such as postgres://user:password@host/database' })
  .regex(
    /^(?:auto|files|off|postgres(?:ql)?:\/\/\S+)$/,
    'must be auto, files, off, or an address such as postgres://user:password@host/database',
  );
const address = z
  .string({ error: 'must be an address such as http://127.0.0.1:8081 or unix:/run/pets.sock' })
  .refine(isUpstreamAddress, 'must be http://host:port, without path, query or password, or unix:/path')
  .describe('http://host:port or unix:/path');
const peer = z
  .string({ error: 'must be an address or a block' })
  .refine(isPeer, 'must be an address or a block such as 10.0.0.0/8 or fd00::/8');

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

const upstream = mapping({
  addresses: z
    .array(address, { error: 'must be a list of addresses' })
    .max(256, 'must be at most 256 addresses')
    .prefault([])
    .describe('Where the service answers. None: its operations answer 501.'),
  health: health
    .optional()
    .describe(
      'Each address is asked whether it wants requests; one that does not is passed over while another does. Left out: health is inferred from the requests sent to it.',
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
  pipelining: whole(1, 64)
    .prefault(1)
    .describe(
      'GETs and HEADs that arrive together and may share a connection and a write. Above 1 only for an upstream that answers within a few milliseconds.',
    ),
  connect: duration('1ms', '1m').prefault('1s').describe('Deadline of a connection attempt.'),
  deadline: duration('1ms', LONGEST).prefault('15s').describe('From dispatch to the last byte of the answer.'),
});

const limits = mapping({
  header_size: size('1KiB', '1MiB').prefault('16KiB').describe('All header fields of a request; 431 above.'),
  header_fields: whole(10, 1000).prefault(100).describe('Number of header fields; 431 above.'),
  url_size: size('256B', '64KiB').prefault('8KiB').describe('Path and query; 414 above.'),
  body_size: size('1B', '1GiB').prefault('1MiB').describe('Body of a request; 413 above.'),
  headers_time: duration('100ms', '5m').prefault('10s').describe('For a whole header to arrive; 408 after.'),
  request_time: duration('100ms', LONGEST).prefault('30s').describe('For a whole request to arrive; 408 after.'),
  keep_alive: duration('100ms', '1h').prefault('65s').describe('How long an idle connection stays open.'),
  connections: whole(1, 1_000_000).prefault(10_000).describe('Client connections per process.'),
  requests_per_connection: whole(1, 100_000_000).prefault(10_000).describe('Then the connection is closed.'),
  exchanges: whole(1, 1_000_000).prefault(1000).describe('Requests at once per process; 503 overloaded above.'),
  streams: whole(1, 1000).prefault(100).describe('Requests at once per HTTP/2 connection.'),
  waiting: whole(1, 1_000_000)
    .prefault(1000)
    .describe(
      'Requests at once per process, beside the exchanges, that wait for their client: for its body, or until it takes the answer; 503 overloaded above, or cut.',
    ),
  bodies_size: size('1B', '1TiB')
    .prefault('256MiB')
    .describe('Bodies held at once per process, all together; 503 overloaded above.'),
  caller_share: share.prefault(0.25).describe('Part of waiting and bodies_size that one address may take.'),
  pipelined: whole(0, 1_000_000)
    .prefault(1000)
    .describe(
      'Requests that wait behind another on their connection, per process; above it the last of a connection ends it.',
    ),
  tunnels: whole(0, 1_000_000).prefault(1000).describe('WebSocket tunnels at once per process; 503 overloaded above.'),
  tunnel_idle: duration('100ms', LONGEST).prefault('5m').describe('How long a tunnel may carry nothing, either way.'),
  tunnel_lifetime: duration('100ms', LONGEST).prefault('1h').describe('How long a tunnel may last at all.'),
  // Node refuses to listen otherwise.
}).refine((given) => given.headers_time <= given.request_time, {
  path: ['headers_time'],
  error: 'must not be longer than request_time',
});

const origin = z
  .string({ error: 'must be an origin such as https://app.example.com' })
  .superRefine((given, context) => {
    const fault = originFault(given);
    if (fault !== null) context.addIssue(fault);
  });
const field = text(
  'must be the name of a header field, such as X-Request-Id; every field is named, * is none',
  /^(?!\*$)[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/,
);
const fields = (...names: readonly string[]) =>
  z.array(field, { error: 'must be a list of header fields' }).prefault([...names]);
const ORIGINS = "must be a list of origins such as https://app.example.com, or '*'";

const cors = mapping({
  origins: z
    .union([z.literal('*'), z.array(origin).min(1, `${ORIGINS}; to allow none, leave cors out`)], { error: ORIGINS })
    .describe(
      "Whose pages may use the API: origins, patterns such as https://*.example.com (one label or more), or '*' for every one.",
    ),
  headers: fields('Authorization', 'Content-Type', 'If-None-Match', 'X-Request-Id', 'traceparent', 'tracestate')
    .refine(
      (names) => names.some((name) => name.toLowerCase() === 'authorization'),
      'must name Authorization too: without it no page could send its key',
    )
    .describe('Fields that pages may send.'),
  expose: fields(
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'RateLimit',
    'RateLimit-Policy',
    'Retry-After',
    'X-Request-Id',
    'Link',
    'Location',
    'Allow',
    'Deprecation',
    'Sunset',
    'X-Stability',
    'WWW-Authenticate',
    'ETag',
    'Date',
  ).describe('Fields that pages may read, beside those that they always may.'),
  max_age: duration('0s', '24h')
    .refine((ms) => ms % 1000 === 0, 'must be whole seconds, such as 10m')
    .prefault('10m')
    .describe('How long a browser may remember what a preflight said.'),
  credentials: bool.prefault(false).describe('Whether pages may send cookies along. Keys need none.'),
}).refine(({ origins, credentials }) => !(credentials && origins === '*'), {
  path: ['credentials'],
  error: "must be false when origins is '*': browsers refuse the two together, so name the origins",
});

const store = mapping({
  redis: redis
    .optional()
    .describe('Shared by all gateways. Left out: the embedded store in the data folder, for one machine.'),
  deadline: duration('1ms', '10s')
    .prefault('450ms')
    .describe('How long a call to the store may take, and the store be silent before it counts as away.'),
  usage: duration('1d', '36500d')
    .refine((ms) => ms % 86_400_000 === 0, 'must be whole days, such as 400d')
    .prefault('400d')
    .describe('How long the store keeps a day of the usage ledger that was not moved to the archive.'),
  archive: archive
    .prefault('auto')
    .describe(
      'Where days of the ledger go that are over: a PostgreSQL address, files in the data folder, or off. auto: files with the embedded store, unless usage is too short; with Redis off, because one gateway alone has the data folder.',
    ),
  archive_after: duration('32d', '36500d')
    .refine((ms) => ms % 86_400_000 === 0, 'must be whole days, such as 40d')
    .prefault('40d')
    .describe('How long they stay in the store before.'),
  final_after: duration('1h', '400d')
    .prefault('7d')
    .describe(
      'With Redis: how long a gateway that fell silent may still bring counts before its days are final without it.',
    ),
  map_size: size('16MiB', '1TiB')
    .prefault('16GiB')
    .describe('Upper bound of the embedded store; takes disk only as it fills.'),
  on_failure: z
    .enum(['local', 'refuse'], { error: 'must be local or refuse' })
    .prefault('local')
    .describe(
      'While Redis is away: decide here, about keys seen within 24 hours and from a share of each limit, or refuse with 503.',
    ),
  gateways: z
    .union([z.literal('auto'), whole(1, 10_000, ', or auto')], {
      error: 'must be a whole number from 1 to 10000, or auto',
    })
    .prefault('auto')
    .describe('How many gateways share each limit while Redis is away; auto is as many as were seen last.'),
  replicas: z
    .union([z.literal('auto'), whole(0, 100, ', or auto')], { error: 'must be a whole number from 0 to 100, or auto' })
    .prefault('auto')
    .describe(
      'How many Redis replicas must have a change of a key or a ban before it is acknowledged; auto: all that are connected, or one while those seen within the hour are gone.',
    ),
  replica_wait: duration('1ms', '10s')
    .prefault('1s')
    .describe('How long they may take; then the answer is 503 change_uncertain.'),
}).refine(({ archive: where, archive_after: after, usage }) => where === 'auto' || where === 'off' || after < usage, {
  path: ['archive_after'],
  error: 'must be shorter than usage: a day is archived before the store forgets it',
});

/** `gateway.yaml` and the files that extend it. Its input form is `config/schema/gateway.schema.json`. */
export const gatewayFile = mapping({
  extends: path.optional().describe('A file whose values hold where this one is silent; relative to this file.'),
  environment: z
    .enum(['development', 'staging', 'production'], { error: 'must be development, staging or production' })
    .prefault('development')
    .describe('Stands in each key; a key of one environment is refused in another.'),
  listen: mapping({
    host: host.prefault('0.0.0.0'),
    port: port.prefault(8080),
    proxy_protocol: bool
      .prefault(false)
      .describe(
        'Every connection begins with a PROXY header (version 1 or 2) and comes from one of trusted_proxies; all others are closed.',
      ),
  })
    .prefault({})
    .describe('The public listener.'),
  tls: mapping({
    cert: path.describe('The certificate, then those that signed it.'),
    key: path.describe('Its private key, without a passphrase.'),
    http2: bool.prefault(true).describe('Whether clients may choose HTTP/2.'),
  })
    .optional()
    .describe('Two PEM files, relative to this file: the public listener speaks HTTPS. Left out: plain HTTP/1.1.'),
  admin: mapping({ host: host.prefault('127.0.0.1'), port: port.prefault(9090) })
    .prefault({})
    .describe('The listener of operators: metrics, health, admin API.'),
  workers: z
    .union([z.literal('auto'), whole(1, 1024, ', or auto')], {
      error: 'must be a whole number from 1 to 1024, or auto',
    })
    .prefault(1)
    .describe('Processes that serve the public port; auto is one per CPU.'),
  data: path.optional().describe('Folder for all the gateway keeps on disk; relative to this file.'),
  plans: path.prefault('plans.yaml').describe('The file of plans; relative to this file.'),
  contract: path
    .optional()
    .describe('The OpenAPI document that the routes come from; relative to this file. Left out: the one shipped.'),
  store: store.prefault({}),
  upstreams: z
    .record(
      z
        .string()
        .regex(NAME, 'must be a name of lower-case letters, digits, - and _, such as pets')
        .refine((name) => name !== 'gateway', 'gateway means the gateway itself; choose another name'),
      upstream,
      { error: 'must be a mapping of services' },
    )
    .prefault({})
    .describe('The upstreams, by the name openapi.yaml calls them.'),
  limits: limits.prefault({}),
  cors: cors.optional().describe('Which pages may use the API from a browser. Left out: answers say nothing of CORS.'),
  trusted_proxies: z
    .array(peer, { error: 'must be a list of addresses or blocks' })
    .prefault([])
    .describe('Peers whose X-Forwarded-For, and PROXY header, is believed.'),
  realm: text(
    'must be 1 to 64 visible characters without quotes and backslashes',
    /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,64}$/,
  )
    .prefault('petgate')
    .describe('Realm of WWW-Authenticate.'),
  keys: mapping({
    accept_imported: bool.prefault(false).describe('Whether keys of a foreign form are looked up at all.'),
  }).prefault({}),
  events: events
    .optional()
    .describe('A webhook that is told of changed keys. Left out: nobody is, and nothing is kept.'),
  log: mapping({
    level: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
        error: 'must be trace, debug, info, warn, error or silent',
      })
      .prefault('info'),
    access: bool.prefault(true).describe('One line per exchange.'),
    sampled: share
      .prefault(1)
      .describe('Share of the exchanges below status 400 that get a line; all others always do.'),
  }).prefault({}),
  shutdown: duration('100ms', '1h')
    .prefault('10s')
    .describe('How long what is in flight may take to end after SIGTERM.'),
});
export type GatewayFile = z.output<typeof gatewayFile>;

function isUpstreamAddress(given: string): boolean {
  if (given.startsWith('unix:')) return /^unix:\/[^\0]+$/.test(given);
  if (!/^http:\/\/[^/?#@\\\s]+\/?$/.test(given) || !URL.canParse(given)) return false;
  return new URL(given).hostname !== '';
}

function isPeer(given: string): boolean {
  const [host_, bits, ...rest] = given.split('/');
  const family = isIP(host_!);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^[0-9]{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
