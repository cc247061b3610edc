import { isIP } from 'node:net';
import { z } from 'zod';
import { authorization } from './authorization.js';
import type { Bytes, Ms } from './quantity.js';
import { bool, choice, duration, LONGEST, mapping, path, size, text, whole, type Immutable } from './values.js';

const address = z
  .string({
    error: 'must be an address such as http://127.0.0.1:8081, https://api.example.com/v2 or unix:/run/app.sock',
  })
  .refine(
    isUpstreamAddress,
    'must be http:// or https://host:port/path, without query or password, the path as it is sent (no .. and no ' +
      'blanks); or unix:/socket or unix:/socket:/path, the socket of at most 107 bytes',
  )
  .describe('http://host:port, https://host, either with a path, unix:/socket or unix:/socket:/path');

const health = mapping({
  path: text('must be a path such as /readyz', /^\/[\x21-\x7e]{0,1023}$/).describe(
    'A GET of it returns 2xx while the address accepts requests.',
  ),
  every: duration('100ms', '1h').prefault('2s').describe('How often it is asked.'),
  deadline: duration('1ms', '1m').prefault('1s').describe('How long a response may take.'),
});

const breaker = mapping({
  failures: whole(1, 10_000)
    .prefault(5)
    .describe('Consecutive attempts without a response after which the breaker opens and the address is skipped.'),
  open: duration('10ms', '1h')
    .prefault('1s')
    .describe('Then one request tries the address; the next after twice that time, and so on.'),
  cap: duration('10ms', '1h').prefault('10s').describe('The longest time from trial to trial.'),
}).refine((given) => given.cap >= given.open, { path: ['cap'], error: 'must not be shorter than open' });

const fields = mapping({
  addresses: z
    .array(address, { error: 'must be a list of addresses' })
    .max(256, 'must be at most 256 addresses')
    .prefault([])
    .describe('Where the service listens. None: its operations return 501.'),
  ca: path
    .optional()
    .describe(
      'PEM file: who may have signed the certificates of https addresses. Left out: the authorities that Node trusts.',
    ),
  servername: text('must be a host name such as api.internal', /^(?=.{1,253}$)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/)
    .refine((name) => isIP(name) === 0, 'must be a host name; leave it out to check the certificate for an address')
    .optional()
    .describe('The name that their certificates are for, where it is not that of the address.'),
  cert: path.optional().describe('PEM file: the certificate by which https addresses know the gateway.'),
  key: path.optional().describe('PEM file: its private key, without a passphrase.'),
  resolve: duration('100ms', '1h')
    .prefault('10s')
    .describe('How often host names in addresses are looked up; every address of theirs is used.'),
  strip_prefix: text(
    'must be a path such as /v1, without a trailing slash',
    /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9\-._~!$&'()*+,;=:@%]+)+$/,
  )
    .optional()
    .describe('Removed from the front of paths; replaced by the path of an address that has one.'),
  host: choice('upstream', 'client')
    .prefault('upstream')
    .describe("What Host says to it: the host of its address, or the client's word."),
  authorization: authorization
    .optional()
    .describe(
      "How the gateway authenticates: none, internal (the pets service's token), client (the client's own), or a " +
        'secret from a file or variable. Left out: internal for pets and store, none for all others.',
    ),
  errors: choice('replace', 'pass')
    .optional()
    .describe(
      'What becomes of its responses of 400 and above that are no Error: replaced by one, or passed as they are. ' +
        'Left out: replace for pets and store, pass for all others.',
    ),
  forwarded: bool
    .prefault(false)
    .describe('Whether it gets Forwarded (RFC 7239) in addition to X-Forwarded-For, -Proto and -Host.'),
  health: health
    .optional()
    .describe(
      'Each address is asked whether it wants requests; one that does not is passed over while another does. ' +
        'Left out: health is inferred from the requests sent to it.',
    ),
  breaker: z
    .union([z.literal('off').transform(() => null), breaker], {
      error: 'must be off, or a mapping of failures, open, cap',
    })
    .prefault({})
    .describe(
      'An address whose requests fail is skipped until one succeeds; off: only the health check skips an address.',
    ),
  connections: whole(1, 10_000)
    .prefault(256)
    .describe('Connections per address; one operation has three quarters of them at most.'),
  keep_alive: duration('0s', '1h')
    .prefault('4s')
    .describe(
      'How long an idle connection to it stays open; set less than it keeps its own. 0s: one request each. ' +
        'A Keep-Alive timeout in its responses shortens this.',
    ),
  response_head: size('1KiB', '1MiB')
    .prefault('16KiB')
    .describe('The longest head of a response, status line and fields; a longer one becomes 502.'),
  response_fields: whole(16, 10_000)
    .prefault(256)
    .describe('How many fields the head of a response may have; one with more becomes 502.'),
  connect: duration('1ms', '1m').prefault('1s').describe('Deadline of a connection attempt.'),
  deadline: duration('1ms', LONGEST)
    .optional()
    .describe(
      'How long it may take to begin its response, and then how long it may be silent while the client reads. ' +
        'Left out: 15s for pets and store, 1m for all others.',
    ),
  idle: duration('10ms', LONGEST)
    .prefault('1m')
    .describe('How long a stream (server-sent events, NDJSON and the like) may be silent, instead of deadline.'),
  lifetime: duration('10ms', LONGEST)
    .prefault('1h')
    .describe('The total time of a response; a body above 64 KiB has as much to arrive.'),
});

/** An entry of `upstreams` in gateway.yaml. */
export const upstream = fields.superRefine((given, context) => {
  const refuse = (key: string, message: string): void => {
    context.addIssue({ code: 'custom', path: [key], message });
  };
  const hasTls = given.addresses.some((url) => url.startsWith('https:'));
  for (const key of ['ca', 'servername', 'cert', 'key'] as const)
    if (given[key] !== undefined && given.addresses.length > 0 && !hasTls)
      refuse(key, 'no address is https://; leave this out, or write https:// for an address with TLS');
  if (given.cert !== undefined && given.key === undefined) refuse('key', 'must be the file with the key of cert');
  if (given.key !== undefined && given.cert === undefined)
    refuse('cert', 'must be the file with the certificate of key');
});

type UpstreamFile = Immutable<z.output<typeof upstream>>;
export type HealthSettings = NonNullable<UpstreamFile['health']>;
export type BreakerSettings = NonNullable<UpstreamFile['breaker']>;

/** Contents of files and variables named in an upstream's settings. Secret: must not be shown anywhere. */
export interface UpstreamContents {
  /** PEM texts; null if not requested. */
  readonly tls: { readonly ca: string | null; readonly cert: string | null; readonly key: string | null };
  readonly secret: UpstreamSecret | null;
}

/** A field for the upstream, and its parts that must not appear in logs. */
export interface UpstreamSecret {
  readonly header: string;
  readonly credential: string;
  readonly secrets: readonly string[];
}

/** Settings of an upstream with the defaults of its kind. */
export interface UpstreamSettings extends Omit<UpstreamFile, 'authorization'> {
  readonly deadline: Ms;
  readonly errors: 'replace' | 'pass';
  readonly authorization: 'none' | 'internal' | 'client' | UpstreamSecret;
  /** Contents of `ca`, `cert` and `key`. */
  readonly tls: UpstreamContents['tls'];
  /** Maximum request body, unless the operation overrides it. */
  readonly body_size: Bytes;
  /** Whether it responds to CORS preflights itself if `cors` is not set. */
  readonly preflights: boolean;
}

/** The animal store's own services: they trust the gateway's token and follow its contract. */
const OURS = {
  ...({ authorization: 'internal', errors: 'replace', preflights: false } as const),
  ...{ deadline: 15_000, body_size: 2 ** 20 },
};
/** An API not written for Petgate is changed as little as possible. */
const FOREIGN = {
  ...({ authorization: 'none', errors: 'pass', preflights: true } as const),
  ...{ deadline: 60_000, body_size: 10 * 2 ** 20 },
};

/** Completes what the file has. @param bodySize `limits.body_size` @param contents undefined if they were not read */
export function upstreamSettings(
  name: string,
  given: UpstreamFile,
  bodySize: Bytes | undefined,
  { tls, secret }: UpstreamContents = { tls: { ca: null, cert: null, key: null }, secret: null },
): UpstreamSettings {
  const kind = name === 'pets' || name === 'store' ? OURS : FOREIGN;
  const { deadline = kind.deadline, errors = kind.errors, authorization: said = kind.authorization } = given;
  const { preflights } = kind;
  return {
    ...{ ...given, deadline, errors, preflights, tls, body_size: bodySize ?? kind.body_size },
    authorization: typeof said === 'string' ? said : (secret ?? 'none'),
  };
}

/** Longer paths don't fit into the address of a Unix socket. */
const MAX_SOCKET_BYTES = 107;
const PATH = /^\/[\x21-\x7e]*$/;

function isUpstreamAddress(given: string): boolean {
  if (given.startsWith('unix:')) {
    const [socket = '', prefix = '/', ...more] = given.slice('unix:'.length).split(/:(?=\/)/);
    return (
      /^\/[^\0]+$/.test(socket) && Buffer.byteLength(socket) <= MAX_SOCKET_BYTES && isPath(prefix) && more.length === 0
    );
  }
  const parts = /^https?:\/\/[^/?#@\\\s]+(\/.*)?$/.exec(given);
  return parts !== null && URL.canParse(given) && new URL(given).hostname !== '' && isPath(parts[1] ?? '/');
}

/** Returns whether the path is sent exactly as it is written. */
function isPath(given: string): boolean {
  return PATH.test(given) && !/[?#\\]/.test(given) && new URL(given, 'http://host').pathname === given;
}
