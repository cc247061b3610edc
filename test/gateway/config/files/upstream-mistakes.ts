import type { Mistake } from './mistakes.js';

export const UPSTREAM_MISTAKES: readonly Mistake[] = [
  [
    'upstream-authorization',
    '1:37 upstreams.pets.authorization',
    /none, internal, client, or a mapping such as/,
    'upstreams: { pets: { authorization: bearer } }\n',
  ],
  [
    'upstream-authorization-client',
    '1:37 upstreams.pets.authorization',
    /reads its own keys from Authorization/,
    'upstreams: { pets: { authorization: client } }\n',
  ],
  [
    'upstream-authorization-nowhere',
    '1:22 upstreams.pets.authorization.file',
    /^missing; .*or name a variable/,
    'upstreams: { pets: { authorization: { scheme: basic } } }\n',
  ],
  [
    'upstream-authorization-twice',
    '1:63 upstreams.pets.authorization.variable',
    /remove one/,
    'upstreams: { pets: { authorization: { file: secret, variable: SECRET } } }\n',
  ],
  [
    'upstream-authorization-scheme',
    '1:71 upstreams.pets.authorization.header',
    /scheme is for Authorization/,
    'upstreams: { pets: { authorization: { file: x, scheme: basic, header: X-Key } } }\n',
  ],
  [
    'upstream-authorization-header',
    '1:56 upstreams.pets.authorization.header',
    /the gateway says this field itself/,
    'upstreams: { pets: { authorization: { file: x, header: X-Petgate-Plan } } }\n',
  ],
  [
    'upstream-authorization-text',
    '1:48 upstreams.pets.authorization.secret',
    /unknown key/,
    'upstreams: { pets: { authorization: { file: x, secret: sesame } } }\n',
  ],
  [
    'upstream-authorization-variable',
    '1:49 upstreams.pets.authorization.variable',
    /not one of ours/,
    'upstreams: { pets: { authorization: { variable: PETGATE_INTERNAL_TOKEN } } }\n',
  ],
  [
    'upstream-ca-plain',
    '1:26 upstreams.pets.ca',
    /no address is https/,
    "upstreams: { pets: { ca: ca.pem, addresses: ['http://127.0.0.1:8081'] } }\n",
  ],
  [
    'upstream-cert-alone',
    '1:14 upstreams.pets.key',
    /^missing; must be the file with the key/,
    "upstreams: { pets: { cert: own.pem, addresses: ['https://127.0.0.1:8081'] } }\n",
  ],
  [
    'upstream-dots',
    '2:23 upstreams.pets.addresses.0',
    /the path as it is sent/,
    'upstreams:\n  pets: { addresses: [http://127.0.0.1:8081/v1/../v2] }\n',
  ],
  ['upstream-errors', '1:30 upstreams.pets.errors', /replace or pass/, 'upstreams: { pets: { errors: keep } }\n'],
  [
    'upstream-password',
    '2:23 upstreams.pets.addresses.0',
    /without query or password/,
    "upstreams:\n  pets: { addresses: ['http://user:sesame@127.0.0.1:8081'] }\n",
  ],
  [
    'upstream-query',
    '2:23 upstreams.pets.addresses.0',
    /without query/,
    'upstreams:\n  pets: { addresses: ["http://127.0.0.1:8081/v1?a=b"] }\n',
  ],
  [
    'upstream-scheme',
    '2:23 upstreams.pets.addresses.0',
    /https:\/\/host:port/,
    "upstreams:\n  pets: { addresses: ['ftp://127.0.0.1'] }\n",
  ],
  [
    'upstream-servername',
    '1:34 upstreams.pets.servername',
    /must be a host name/,
    "upstreams: { pets: { servername: 10.0.0.1, addresses: ['https://127.0.0.1'] } }\n",
  ],
  [
    'upstream-socket',
    '2:23 upstreams.pets.addresses.0',
    /at most 107 bytes/,
    `upstreams:\n  pets: { addresses: ['unix:/${'x'.repeat(120)}'] }\n`,
  ],
  [
    'upstream-strip-prefix',
    '1:36 upstreams.pets.strip_prefix',
    /without a trailing slash/,
    'upstreams: { pets: { strip_prefix: /v1/ } }\n',
  ],
];
