import { availableParallelism } from 'node:os';
import { z } from 'zod';
import type { Plans } from '../../admission/plan.js';
import { cors } from './cors.js';
import { credentials } from './credentials.js';
import { events } from './events.js';
import { limits } from './limits.js';
import { store } from './store.js';
import { upstream, type UpstreamSettings } from './upstream.js';
import { bool, choice, duration, mapping, network, path, share, text, whole, type Immutable } from './values.js';

const HOST = /^(?:[0-9A-Fa-f:.]+|[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})?)$/;
const NAME = /^[a-z][a-z0-9_-]{0,31}$/;
const host = text('must be a host name or an address, such as 127.0.0.1', HOST);
const BASE_PATH = /^\/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]*[A-Za-z0-9._~!$&'()*+,;=:@-])?$/;
const OWN_PATHS = /^(?:off|(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+)$/;
const port = whole(0, 65_535);

/** `gateway.yaml` and the files that extend it. Its input form is `config/schema/gateway.schema.json`. */
export const gatewayFile = mapping({
  extends: path.optional().describe('A file with the values that this one leaves out; relative to this file.'),
  environment: choice('development', 'staging', 'production')
    .prefault('development')
    .describe('Part of each key; a key of one environment is refused in another.'),
  listen: mapping({
    host: host.prefault('0.0.0.0'),
    port: port.prefault(8080),
    proxy_protocol: bool
      .prefault(false)
      .describe(
        'Every connection begins with a PROXY header (version 1 or 2) and comes from one of trusted_proxies; ' +
          'all others are closed.',
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
  admin: mapping({
    host: host.prefault('127.0.0.1'),
    port: port.prefault(9090),
    hosts: z
      .array(host, { error: 'must be a list of host names' })
      .prefault([])
      .describe(
        'Host names it accepts, in addition to addresses, names of one label and those ending in .svc, .local or ' +
          '.internal; others get 421.',
      ),
  })
    .prefault({})
    .describe('The listener of operators: metrics, health, admin API.'),
  workers: z
    .union([z.literal('auto'), whole(1, 1024, ', or auto')], {
      error: 'must be a whole number from 1 to 1024, or auto',
    })
    .prefault(1)
    .transform((given) => (given === 'auto' ? availableParallelism() : given))
    .describe('Processes that serve the public port; auto is one per CPU.'),
  data: path
    .optional()
    .describe(
      'Folder for everything the gateway keeps on disk; relative to this file. Default: data in the working directory.',
    ),
  plans: path.prefault('plans.yaml').describe('The file of plans; relative to this file.'),
  contract: path
    .optional()
    .describe(
      'The OpenAPI document that the routes come from; relative to this file. none: every path is forwarded to the ' +
        'upstream `default`. Left out: the one shipped.',
    ),
  overlays: z
    .array(path, { error: 'must be a list of files' })
    .prefault([])
    .describe('OpenAPI Overlay documents that are applied to the contract, in this order; relative to this file.'),
  base_path: text('must be / or a path such as /v1, without a trailing slash', BASE_PATH)
    .transform((given) => given.replace(/\/$/, ''))
    .optional()
    .describe("What the contract's paths begin with, instead of the path of its servers."),
  own_paths: text('must be a path such as /_petgate, or off', OWN_PATHS)
    .prefault('/_petgate')
    .transform((given) => (given === 'off' ? null : given))
    .describe(
      "Below it are the gateway's own operations (usage, openapi.json, docs) that the contract doesn't name; off: " +
        'there are none.',
    ),
  similar_paths: choice('refuse', 'forward')
    .prefault('refuse')
    .describe(
      'A path that fits a parameter, and that upstreams may read as a literal path (/admin/SECRET, /admin/secret;x ' +
        'or /admin/secret. next to /admin/secret). refuse: it gets 404; forward: it is forwarded.',
    ),
  account: bool
    .optional()
    .describe(
      'Whether holders of keys have a page, /account below own_paths; it shares the origin of what the upstreams ' +
        'answer. Left out: with the contract shipped alone, at /account.',
    ),
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
  cors: cors.optional().describe('Which pages may use the API from a browser. Left out: no CORS fields.'),
  trusted_proxies: z
    .array(network, { error: 'must be a list of addresses or blocks' })
    .prefault([])
    .describe('Peers whose X-Forwarded-For and PROXY header are trusted.'),
  realm: text(
    'must be 1 to 64 visible characters without quotes and backslashes',
    /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,64}$/,
  )
    .prefault('petgate')
    .describe('Realm of WWW-Authenticate.'),
  credentials: credentials
    .prefault(['bearer'])
    .describe(
      'Where clients send their key: bearer, or the name of a header field or parameter of the query, or the user ' +
        'name or password of Basic. The first of them that a request has counts; none of them reaches an upstream.',
    ),
  errors: choice('petgate', 'problem', 'nested', 'xml')
    .prefault('petgate')
    .describe(
      "The form of the gateway's own refusals. petgate: {code, message, status}; nested: {error: {code, message, " +
        'type, param}}, as OpenAI and Stripe send them; xml: <Error><Code>, as S3 does; with all of these, problems ' +
        '(RFC 9457) for clients that accept application/problem+json. problem: problems for all.',
    ),
  keys: mapping({
    accept_imported: bool.prefault(false).describe('Whether keys of a foreign form are looked up at all.'),
    holders_rotate: bool.prefault(true).describe('Whether the holder of a key may rotate it, on the page for holders.'),
  }).prefault({}),
  events: events
    .optional()
    .describe(
      'The webhook of the operator, which gets an event for each changed key. Left out: there are no events, and ' +
        'none is stored.',
    ),
  metrics: mapping({
    operations: whole(0, 100_000)
      .prefault(500)
      .describe('How many operations have series of their own: the first of the contract; all others are `other`.'),
  }).prefault({}),
  log: mapping({
    level: choice('trace', 'debug', 'info', 'warn', 'error', 'silent').prefault('info'),
    access: z
      .union([bool, z.literal('text')], { error: 'must be true, false or text' })
      .prefault(true)
      .describe('One line per exchange: true is JSON; text is for people, and at every level but silent.'),
    sampled: share
      .prefault(1)
      .describe('Share of the exchanges below status 400 that get a line; all others always do.'),
  }).prefault({}),
  drain: duration('0s', '10m')
    .prefault('0s')
    .describe('How long it still serves after SIGTERM, not ready, so that load balancers notice before it stops.'),
  shutdown: duration('100ms', '1h').prefault('10s').describe('How long requests in flight may then take to finish.'),
});
export type GatewayFile = z.output<typeof gatewayFile>;

/** All settings of the gateway, checked and complete, by their names in the file. Paths are absolute. */
export interface Settings extends Immutable<Omit<GatewayFile, 'data' | 'contract' | 'plans' | 'upstreams'>> {
  readonly data: string;
  /** Null: none, every path is forwarded. */
  readonly contract: string | null;
  readonly plans: Plans;
  readonly upstreams: Readonly<Record<string, UpstreamSettings>>;
}
