/** A mistake in a file: its name, `line:column path` of the mistake, what the message must say, and the file's text. */
export type Mistake = readonly [name: string, where: string, what: RegExp, text: string];

export const SETTINGS_MISTAKES: readonly Mistake[] = [
  [
    'admin-host',
    '1:39 admin.hosts.1',
    /host name or an address/,
    'admin: { hosts: [gateway.example.com, "*.example.com"] }\n',
  ],
  ['alias-bomb', '2:8', /aliases/, 'a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nrealm: *c\n'],
  ['base-missing', '2:10 extends', /nowhere\.yaml: no such file/, 'realm: petgate\nextends: nowhere.yaml\n'],
  ['boolean or word', '1:16 log.access', /true, false or text/, 'log: { access: yes }\n'],
  [
    'breaker-cap',
    '1:48 upstreams.pets.breaker.cap',
    /not be shorter than open/,
    'upstreams: { pets: { breaker: { open: 2s, cap: 1s } } }\n',
  ],
  [
    'breaker-failures',
    '1:43 upstreams.pets.breaker.failures',
    /whole number from 1 to 10000/,
    'upstreams: { pets: { breaker: { failures: 0 } } }\n',
  ],
  [
    'breaker-unknown-key',
    '1:33 upstreams.pets.breaker.failure',
    /did you mean "failures"\?/,
    'upstreams: { pets: { breaker: { failure: 3 } } }\n',
  ],
  [
    'breaker-word',
    '1:31 upstreams.pets.breaker',
    /off, or a mapping of failures, open, cap/,
    'upstreams: { pets: { breaker: on } }\n',
  ],
  ['cors-credentials', '1:36 cors.credentials', /false when origins/, "cors: { origins: '*', credentials: true }\n"],
  ['cors-empty', '1:18 cors.origins', /leave cors out/, 'cors: { origins: [] }\n'],
  [
    'cors-everybody-listed',
    '2:36 cors.origins.1',
    /without a list/,
    "cors:\n  origins: [https://a.example.com, '*']\n",
  ],
  ['cors-expose-all', '1:32 cors.expose.0', /every field is named/, "cors: { origins: '*', expose: ['*'] }\n"],
  ['cors-max-age', '1:32 cors.max_age', /whole seconds/, "cors: { origins: '*', max_age: 1500ms }\n"],
  ['cors-origin-null', '1:19 cors.origins.0', /sandboxed/, "cors: { origins: ['null'] }\n"],
  [
    'cors-origin-path',
    '4:7 cors.origins.1',
    /without a path or a trailing slash/,
    'cors:\n  origins:\n    - https://a.example.com\n    - https://a.example.com/\n',
  ],
  ['cors-origin-port', '1:19 cors.origins.0', /443 for https/, "cors: { origins: ['https://a.example.com:443'] }\n"],
  ['cors-pattern', '1:19 cors.origins.0', /at least two parts/, "cors: { origins: ['https://*.com'] }\n"],
  ['cors-without-origins', '1:1 cors.origins', /^missing; .*such as https:/, 'cors: {}\n'],
  ['credentials-basic', '1:24 credentials.0.basic', /username or password/, 'credentials: [{ basic: user }]\n'],
  ['credentials-empty', '1:14 credentials', /at least one of bearer/, 'credentials: []\n'],
  ['credentials-header', '1:25 credentials.0.header', /another meaning/, 'credentials: [{ header: X_Request_Id }]\n'],
  ['credentials-none', '1:15 credentials.0', /must be bearer, \{ scheme/, 'credentials: [{}]\n'],
  ['credentials-query', '1:24 credentials.0.query', /name of a parameter/, 'credentials: [{ query: "a b" }]\n'],
  ['credentials-scheme', '1:25 credentials.0.scheme', /such as token/, 'credentials: [{ scheme: "a b" }]\n'],
  ['credentials-scheme-basic', '1:25 credentials.0.scheme', /basic: username/, 'credentials: [{ scheme: Basic }]\n'],
  ['credentials-scheme-proof', '1:25 credentials.0.scheme', /a proof/, 'credentials: [{ scheme: Digest }]\n'],
  [
    'credentials-twice',
    '1:36 credentials.1',
    /listed twice/,
    'credentials: [{ basic: username }, { basic: password }]\n',
  ],
  ['credentials-word', '1:15 credentials.0', /must be bearer, \{ scheme/, 'credentials: [Bearer]\n'],
  ['duplicate-key', '3:1', /twice/, 'realm: one\nlisten: { port: 1 }\nrealm: two\n'],
  ['duration-out-of-range', '2:13 store.deadline', /from 1ms to 10s/, 'store:\n  deadline: 1h\n'],
  ['duration-with-space', '2:13 store.deadline', /unit/, 'store:\n  deadline: 100 ms\n'],
  ['duration-without-unit', '2:13 store.deadline', /unit/, 'store:\n  deadline: 100\n'],
  ['empty', '1:1', /empty; write \{\}/, ''],
  ['environment', '1:14 environment', /development, staging or production/, 'environment: prod\n'],
  ['errors', '1:9 errors', /petgate, problem, nested or xml/, 'errors: html\n'],
  ['fraction', '1:26 limits.header_fields', /whole number from 10 to 1000/, 'limits: { header_fields: 100.5 }\n'],
  [
    'header-outlasts-request',
    '1:25 limits.headers_time',
    /not be longer than request_time/,
    'limits: { headers_time: 31s }\n',
  ],
  [
    'health-path',
    '1:38 upstreams.pets.health.path',
    /such as \/readyz/,
    'upstreams: { pets: { health: { path: readyz } } }\n',
  ],
  ['host', '1:17 listen.host', /host name or an address/, "listen: { host: 'a b' }\n"],
  ['list', '1:1', /mapping/, '- realm: petgate\n'],
  ['log-level', '1:15 log.level', /trace, debug/, 'log: { level: loud }\n'],
  ['null-mapping', '1:7 store', /mapping of engine, redis, deadline/, 'store:\n  # all of it commented out\n'],
  ['only-comment', '1:1', /empty/, '# nothing but a comment\n'],
  ['open-quote', '2:1', /closing quote/, 'realm: "one\n'],
  ['plans-missing', '1:8 plans', /nowhere\.yaml: no such file/, 'plans: nowhere.yaml\n'],
  ['port', '1:17 listen.port', /whole number from 0 to 65535/, 'listen: { port: 65536 }\n'],
  ['port-text', '1:17 listen.port', /whole number from 0 to 65535/, "listen: { port: '8080' }\n"],
  ['proto', '2:3', /no name/, 'upstreams:\n  __proto__: { addresses: [] }\n'],
  [
    'proxy-protocol',
    '1:27 listen.proxy_protocol',
    /true or false/,
    'listen: { proxy_protocol: v2 }\ntrusted_proxies: [10.0.0.0/8]\n',
  ],
  ['proxy-untrusted', '1:27 listen.proxy_protocol', /in trusted_proxies/, 'listen: { proxy_protocol: true }\n'],
  ['realm', '1:8 realm', /without quotes/, "realm: 'a\"b'\n"],
  ['redis-as-key', '1:10 store.***', /unknown key/, 'store: { redis://user:sesame@host }\n'],
  ['redis-scheme', '2:10 store.redis', /redis\+sentinel:/, 'store:\n  redis: http://user:sesame@host:6379\n'],
  ['sampled', '1:17 log.sampled', /number from 0 to 1/, 'log: { sampled: 1.5 }\n'],
  ['self-extending', '1:10 extends', /circle/, 'extends: self-extending.yaml\n'],
  ['shared-port', '1:17 listen.port', /both on port 9090/, 'listen: { port: 9090 }\n'],
  ['size-out-of-range', '1:22 limits.body_size', /from 1B to 100TiB/, 'limits: { body_size: 200TiB }\n'],
  ['size-unit', '2:13 store.map_size', /KiB, MiB/, 'store:\n  map_size: 1MB\n'],
  ['store-gateways', '2:13 store.gateways', /from 1 to 10000, or auto/, 'store:\n  gateways: 0\n'],
  [
    'archive',
    '2:12 store.archive',
    /off, or an address such as postgres/,
    'store:\n  archive: s3://bucket\n  redis: redis://127.0.0.1:6379\n',
  ],
  [
    'archive-embedded',
    '2:12 store.archive',
    /only Redis has an archive/,
    'store:\n  archive: postgres://petgate:sesame@127.0.0.1/ledger\n',
  ],
  [
    'archive-after',
    '5:18 store.archive_after',
    /must be shorter than usage/,
    'store:\n  redis: redis://127.0.0.1:6379\n  archive: postgres://127.0.0.1/ledger\n  usage: 40d\n  ' +
      'archive_after: 40d\n',
  ],
  ['store-on-failure', '2:15 store.on_failure', /local or refuse/, 'store:\n  on_failure: refused\n'],
  ['tab', '2:1', /use spaces/, 'listen:\n\tport: 8080\n'],
  ['trusted-block', '3:5 trusted_proxies.1', /10\.0\.0\.0\/8/, 'trusted_proxies:\n  - 10.0.0.0/8\n  - 10.0.0.0/33\n'],
  ['two-documents', '2:1', /second document/, 'realm: one\n---\nrealm: two\n'],
  ['unknown-key', '3:3 listen.hots', /did you mean "host"\?/, 'listen:\n  port: 8080\n  hots: 127.0.0.1\n'],
  ['unknown-stranger', '1:1 xylophone', /known here: extends, environment/, 'xylophone: 1\n'],
  ['unknown-tag', '1:8', /tag/, 'realm: !secret one\n'],
  ['unknown-top-key', '1:1 lisen', /did you mean "listen"\?/, 'lisen: { port: 8080 }\n'],
  [
    'unknown-upstream-key',
    '3:5 upstreams.pets.adresses',
    /did you mean "addresses"\?/,
    'upstreams:\n  pets:\n    adresses: []\n',
  ],
  ['upstream-gateway', '2:3 upstreams.gateway', /gateway itself/, 'upstreams:\n  gateway: { addresses: [] }\n'],
  ['upstream-name', '2:3 upstreams.Pets', /lower-case/, 'upstreams:\n  Pets: { addresses: [] }\n'],
  ['usage-half-days', '2:10 store.usage', /whole days/, 'store:\n  usage: 36h\n'],
  ['workers', '1:10 workers', /from 1 to 1024, or auto/, 'workers: 0\n'],
];

export const PLANS_MISTAKES: readonly Mistake[] = [
  ['anonymous-custom', '1:22 anonymous.limits', /two numbers/, 'anonymous: { limits: custom, ban: { after: 150 } }\n'],
  [
    'anonymous-missing',
    '1:1',
    /plan anonymous is missing/,
    'free: { limits: { minute: 60, day: 1000 }, ban: { after: 30 } }\n',
  ],
  [
    'anonymous-month',
    '1:56 anonymous.limits.month',
    /leave month out/,
    'anonymous: { limits: { minute: 300, day: 10000, month: 5 }, ban: { after: 150 } }\n',
  ],
  [
    'anonymous-operations',
    '1:84 anonymous.operations',
    /leave operations out/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 }, operations: { createPet: { cost: 2 } } }\n',
  ],
  [
    'anonymous-unlimited',
    '1:22 anonymous.limits',
    /two numbers/,
    'anonymous: { limits: { minute: 300, day: unlimited }, ban: { after: 150 } }\n',
  ],
  [
    'anonymous-warn-at',
    '1:81 anonymous.warn_at',
    /leave warn_at out/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 }, warn_at: [50] }\n',
  ],
  [
    'price-fraction',
    '2:83 free.price.per_unit',
    /usage push/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 60, ' +
      'day: 1000 }, ban: { after: 30 }, price: { per_unit: 0.5, currency: EUR } }\n',
  ],
  [
    'price-currency',
    '2:83 free.price.currency',
    /ISO 4217/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 60, ' +
      'day: 1000 }, ban: { after: 30 }, price: { currency: ERU } }\n',
  ],
  [
    'price-currency-word',
    '2:83 free.price.currency',
    /ISO 4217/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 60, ' +
      'day: 1000 }, ban: { after: 30 }, price: { currency: euro } }\n',
  ],
  [
    'anonymous-price',
    '1:79 anonymous.price',
    /an address has no payer/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 }, price: { currency: EUR } }\n',
  ],
  [
    'warn-at-order',
    '2:73 free.warn_at',
    /each larger than the one before/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 60, ' +
      'day: 1000 }, ban: { after: 30 }, warn_at: [80, 50] }\n',
  ],
  [
    'warn-at-share',
    '2:78 free.warn_at.1',
    /from 1 to 100/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 60, ' +
      'day: 1000 }, ban: { after: 30 }, warn_at: [50, 101] }\n',
  ],
  [
    'warn-at-word',
    '2:73 free.warn_at',
    /must be a list of whole numbers/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 60, ' +
      'day: 1000 }, ban: { after: 30 }, warn_at: half }\n',
  ],
  [
    'month-zero',
    '2:49 free.limits.month',
    /from 1 to 100000000, or unlimited/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 60, ' +
      'day: 1000, month: 0 }, ban: { after: 30 } }\n',
  ],
  [
    'operation-cost',
    '2:97 free.operations.createPet.cost',
    /from 0 to 1000000/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 60, ' +
      'day: 1000 }, ban: { after: 30 }, operations: { createPet: { cost: -1 } } }\n',
  ],
  [
    'operation-empty',
    '2:89 free.operations.createPet',
    /cost, minute, day or month/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 60, ' +
      'day: 1000 }, ban: { after: 30 }, operations: { createPet: {} } }\n',
  ],
  [
    'operation-name',
    '2:78 free.operations.*',
    /name of an operation/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 60, ' +
      'day: 1000 }, ban: { after: 30 }, operations: { "*": { cost: 2 } } }\n',
  ],
  [
    'operation-unknown-window',
    '2:100 free.operations.createPet.mintue',
    /did you mean "minute"\?/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 60, ' +
      'day: 1000 }, ban: { after: 30 }, operations: { createPet: { cost: 2, mintue: 2 } } }\n',
  ],
  [
    'ban-after-missing',
    '4:3 free.ban.after',
    /^missing; .*whole number/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree:\n  limits: { minute: 60, ' +
      'day: 1000 }\n  ban: { for: 5m }\n',
  ],
  [
    'ban-cap',
    '4:35 free.ban.cap',
    /not be shorter/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree:\n  limits: { minute: 60, ' +
      'day: 1000 }\n  ban: { after: 30, for: 2h, cap: 1h }\n',
  ],
  [
    'ban-factor',
    '4:29 free.ban.factor',
    /from 1 to 100/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree:\n  limits: { minute: 60, ' +
      'day: 1000 }\n  ban: { after: 30, factor: 0.5 }\n',
  ],
  [
    'ban-missing',
    '2:1 free.ban',
    /^missing; .*after, within/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree:\n  limits: { minute: 60, ' +
      'day: 1000 }\n',
  ],
  [
    'ban-unknown-key',
    '4:21 free.ban.witin',
    /did you mean "within"\?/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree:\n  limits: { minute: 60, ' +
      'day: 1000 }\n  ban: { after: 30, witin: 60s }\n',
  ],
  [
    'duplicate',
    '2:1',
    /twice/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nanonymous: { limits: { minute: ' +
      '300, day: 10000 }, ban: { after: 150 } }\n',
  ],
  ['empty', '1:1', /empty/, ''],
  [
    'limit-missing',
    '2:9 free.limits.day',
    /^missing; /,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 60 }, ' +
      'ban: { after: 30 } }\n',
  ],
  [
    'limit-too-large',
    '2:36 free.limits.day',
    /100000000, or unlimited/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 60, ' +
      'day: 100000001 }, ban: { after: 30 } }\n',
  ],
  [
    'balance-word',
    '2:28 free.limits.balance',
    /must be prepaid/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { balance: postpaid }, ' +
      'ban: { after: 30 } }\n',
  ],
  [
    'balance-of-addresses',
    '1:33 anonymous.limits.balance',
    /an address has no balance/,
    'anonymous: { limits: { balance: prepaid, minute: 300, day: 10000 }, ban: { after: 150 } }\n',
  ],
  [
    'limit-word',
    '2:36 free.limits.day',
    /or unlimited/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 60, ' +
      'day: infinite }, ban: { after: 30 } }\n',
  ],
  [
    'limit-zero',
    '2:27 free.limits.minute',
    /from 1 to/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 0, day: ' +
      '1000 }, ban: { after: 30 } }\n',
  ],
  [
    'limits-unknown-window',
    '2:42 free.limits.hour',
    /known here: minute, day/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 60, ' +
      'day: 1000, hour: 5 }, ban: { after: 30 } }\n',
  ],
  [
    'limits-word',
    '2:23 enterprise.limits',
    /custom/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nenterprise: { limits: costum, ' +
      'ban: { after: 30 } }\n',
  ],
  [
    'name',
    '2:1 Free',
    /lower-case/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nFree: { limits: { minute: 60, ' +
      'day: 1000 }, ban: { after: 30 } }\n',
  ],
  [
    'refill',
    '2:52 free.refill',
    /interval .* or greedy/,
    'anonymous: { limits: { minute: 300, day: 10000 }, ban: { after: 150 } }\nfree: { limits: { minute: 60, ' +
      'day: 1000 }, refill: gready, ban: { after: 30 } }\n',
  ],
];
