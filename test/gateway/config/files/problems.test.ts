import { readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import type { Test } from 'tap';
import { ConfigError, loadSettings, renderProblems } from '../../../../src/gateway/config/load.js';
import { MOST_PLANS } from '../../../../src/gateway/admission/plan.js';
import { packageRoot } from '../../../../src/shared/package-root.js';

const folder = join(packageRoot, 'test/gateway/config/fixtures');

/** One mistake per fixture: `line:column path`, and what the message must say. */
const settingsFixtures: readonly (readonly [string, string, RegExp])[] = [
  ['admin-host', '1:39 admin.hosts.1', /host name or an address/],
  ['alias-bomb', '2:8', /aliases/],
  ['base-missing', '2:10 extends', /nowhere\.yaml: no such file/],
  ['boolean', '1:16 log.access', /true or false/],
  ['breaker-cap', '1:48 upstreams.pets.breaker.cap', /not be shorter than open/],
  ['breaker-failures', '1:43 upstreams.pets.breaker.failures', /whole number from 1 to 10000/],
  ['breaker-unknown-key', '1:33 upstreams.pets.breaker.failure', /did you mean "failures"\?/],
  ['breaker-word', '1:31 upstreams.pets.breaker', /off, or a mapping of failures, open, cap/],
  ['cors-credentials', '1:36 cors.credentials', /false when origins/],
  ['cors-empty', '1:18 cors.origins', /leave cors out/],
  ['cors-everybody-listed', '2:36 cors.origins.1', /without a list/],
  ['cors-expose-all', '1:32 cors.expose.0', /every field is named/],
  ['cors-headers', '1:32 cors.headers', /Authorization too/],
  ['cors-max-age', '1:32 cors.max_age', /whole seconds/],
  ['cors-origin-null', '1:19 cors.origins.0', /sandboxed/],
  ['cors-origin-path', '4:7 cors.origins.1', /without a slash at its end/],
  ['cors-origin-port', '1:19 cors.origins.0', /443 for https/],
  ['cors-pattern', '1:19 cors.origins.0', /at least two parts/],
  ['cors-without-origins', '1:1 cors.origins', /^missing; .*such as https:/],
  ['customer-network', '1:66 events.customer_networks.0', /10\.0\.0\.0\/8/],
  ['duplicate-key', '3:1', /twice/],
  ['duration-out-of-range', '2:13 store.deadline', /from 1ms to 10s/],
  ['duration-with-space', '2:13 store.deadline', /unit/],
  ['duration-without-unit', '2:13 store.deadline', /unit/],
  ['empty', '1:1', /empty; write \{\}/],
  ['environment', '1:14 environment', /development, staging or production/],
  ['fraction', '1:26 limits.header_fields', /whole number from 10 to 1000/],
  ['header-outlasts-request', '1:25 limits.headers_time', /not be longer than request_time/],
  ['health-path', '1:38 upstreams.pets.health.path', /such as \/readyz/],
  ['host', '1:17 listen.host', /host name or an address/],
  ['list', '1:1', /mapping/],
  ['log-level', '1:15 log.level', /trace, debug/],
  ['null-mapping', '1:7 store', /mapping of engine, redis, deadline/],
  ['only-comment', '1:1', /empty/],
  ['open-quote', '2:1', /closing quote/],
  ['plans-missing', '1:8 plans', /nowhere\.yaml: no such file/],
  ['port', '1:17 listen.port', /whole number from 0 to 65535/],
  ['port-text', '1:17 listen.port', /whole number from 0 to 65535/],
  ['proto', '2:3', /no name/],
  ['proxy-protocol', '1:27 listen.proxy_protocol', /true or false/],
  ['proxy-untrusted', '1:27 listen.proxy_protocol', /in trusted_proxies/],
  ['realm', '1:8 realm', /without quotes/],
  ['redis-as-key', '1:10 store.***', /unknown key/],
  ['redis-scheme', '2:10 store.redis', /redis\+sentinel:/],
  ['sampled', '1:17 log.sampled', /number from 0 to 1/],
  ['self-extending', '1:10 extends', /circle/],
  ['shared-port', '1:17 listen.port', /both on port 9090/],
  ['size-out-of-range', '1:22 limits.body_size', /from 1B to 1GiB/],
  ['size-unit', '2:13 store.map_size', /KiB, MiB/],
  ['store-gateways', '2:13 store.gateways', /from 1 to 10000, or auto/],
  ['archive', '2:12 store.archive', /off, or an address such as postgres/],
  ['archive-embedded', '2:12 store.archive', /only Redis has an archive/],
  ['archive-after', '5:18 store.archive_after', /must be shorter than usage/],
  ['store-on-failure', '2:15 store.on_failure', /local or refuse/],
  ['tab', '2:1', /use spaces/],
  ['trusted-block', '3:5 trusted_proxies.1', /10\.0\.0\.0\/8/],
  ['two-documents', '2:1', /second document/],
  ['unknown-key', '3:3 listen.hots', /did you mean "host"\?/],
  ['unknown-stranger', '1:1 xylophone', /known here: extends, environment/],
  ['unknown-tag', '1:8', /tag/],
  ['unknown-top-key', '1:1 lisen', /did you mean "listen"\?/],
  ['unknown-upstream-key', '3:5 upstreams.pets.adresses', /did you mean "addresses"\?/],
  ['upstream-gateway', '2:3 upstreams.gateway', /gateway itself/],
  ['upstream-name', '2:3 upstreams.Pets', /lower-case/],
  ['upstream-password', '2:23 upstreams.pets.addresses.0', /without path, query or password/],
  ['upstream-path', '2:23 upstreams.pets.addresses.0', /without path/],
  ['upstream-scheme', '2:23 upstreams.pets.addresses.0', /http:\/\/host:port/],
  ['usage-half-days', '2:10 store.usage', /whole days/],
  ['workers', '1:10 workers', /from 1 to 1024, or auto/],
];

const plansFixtures: readonly (readonly [string, string, RegExp])[] = [
  ['anonymous-custom', '1:22 anonymous.limits', /two numbers/],
  ['anonymous-missing', '1:1', /plan anonymous is missing/],
  ['anonymous-month', '1:56 anonymous.limits.month', /leave month out/],
  ['anonymous-operations', '1:84 anonymous.operations', /leave operations out/],
  ['anonymous-unlimited', '1:22 anonymous.limits', /two numbers/],
  ['anonymous-warn-at', '1:81 anonymous.warn_at', /leave warn_at out/],
  ['warn-at-order', '2:73 free.warn_at', /each larger than the one before/],
  ['warn-at-share', '2:78 free.warn_at.1', /from 1 to 100/],
  ['warn-at-word', '2:73 free.warn_at', /must be a list of whole numbers/],
  ['month-zero', '2:49 free.limits.month', /from 1 to 100000000, or unlimited/],
  ['operation-cost', '2:97 free.operations.createPet.cost', /from 0 to 1000000/],
  ['operation-empty', '2:89 free.operations.createPet', /cost, minute, day or month/],
  ['operation-name', '2:78 free.operations.create-pet', /operationId/],
  ['operation-unknown-window', '2:100 free.operations.createPet.mintue', /did you mean "minute"\?/],
  ['ban-after-missing', '4:3 free.ban.after', /^missing; .*whole number/],
  ['ban-cap', '4:35 free.ban.cap', /not be shorter/],
  ['ban-factor', '4:29 free.ban.factor', /from 1 to 100/],
  ['ban-missing', '2:1 free.ban', /^missing; .*after, within/],
  ['ban-unknown-key', '4:21 free.ban.witin', /did you mean "within"\?/],
  ['duplicate', '2:1', /twice/],
  ['empty', '1:1', /empty/],
  ['limit-missing', '2:9 free.limits.day', /^missing; /],
  ['limit-too-large', '2:36 free.limits.day', /100000000, or unlimited/],
  ['limit-word', '2:36 free.limits.day', /or unlimited/],
  ['limit-zero', '2:27 free.limits.minute', /from 1 to/],
  ['limits-unknown-window', '2:42 free.limits.hour', /known here: minute, day/],
  ['limits-word', '2:23 enterprise.limits', /custom/],
  ['name', '2:1 Free', /lower-case/],
  ['refill', '2:52 free.refill', /interval .* or greedy/],
];

function refusal(environment: NodeJS.ProcessEnv): ConfigError {
  try {
    loadSettings(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('the mistake was not noticed');
}

function check(t: Test, error: ConfigError, file: string, where: string, what: RegExp): void {
  const problem = error.problems[0]!;
  t.equal(basename(problem.file), file);
  t.equal(`${problem.line}:${problem.column} ${problem.path}`.trim(), where);
  t.match(problem.message, what);
  t.notMatch(renderProblems(error), 'sesame', 'no secret is shown');
  // The bomb is noticed in three lines; any other mistake is told once.
  if (file !== 'alias-bomb.yaml') t.equal(error.problems.length, 1);
}

for (const [name, where, what] of settingsFixtures) {
  t.test(`${name}.yaml is refused at ${where}`, (t) => {
    check(t, refusal({ PETGATE_CONFIG: join(folder, `${name}.yaml`) }), `${name}.yaml`, where, what);
    t.end();
  });
}

for (const [name, where, what] of plansFixtures) {
  t.test(`plans/${name}.yaml is refused at ${where}`, (t) => {
    const config = join(t.testdir({}), 'gateway.yaml');
    writeFileSync(config, `plans: ${JSON.stringify(join(folder, 'plans', `${name}.yaml`))}\n`);
    check(t, refusal({ PETGATE_CONFIG: config }), `${name}.yaml`, where, what);
    t.end();
  });
}

t.test('a thousand plans are taken, and no more', (t) => {
  const folderOf = t.testdir({});
  const [config, plans] = [join(folderOf, 'gateway.yaml'), join(folderOf, 'plans.yaml')];
  writeFileSync(config, `plans: ${JSON.stringify(plans)}\n`);
  const write = (count: number): void => {
    const names = ['anonymous', ...Array.from({ length: count - 1 }, (_, n) => `plan-${n}`)];
    writeFileSync(
      plans,
      names.map((name) => `${name}: { limits: { minute: 1, day: 1 }, ban: { after: 9 } }\n`).join(''),
    );
  };
  write(MOST_PLANS);
  t.equal(loadSettings({ PETGATE_CONFIG: config }).plans.size, 1_000);
  write(MOST_PLANS + 1);
  check(t, refusal({ PETGATE_CONFIG: config }), 'plans.yaml', '1:1', /at most 1000 plans/);
  t.end();
});

t.test('every fixture has its row', (t) => {
  const named = (rows: readonly (readonly [string, ...unknown[]])[]): string[] =>
    rows.map(([name]) => `${name}.yaml`).sort();
  const others = ['base-broken.yaml', 'plans.yaml', 'several.yaml'];
  t.same(
    readdirSync(folder)
      .filter((name) => name.endsWith('.yaml') && !others.includes(name))
      .sort(),
    named(settingsFixtures),
  );
  t.same(readdirSync(join(folder, 'plans')).sort(), named(plansFixtures));
  t.end();
});

t.test('all mistakes of all files and the environment are told at once, in order', (t) => {
  const error = refusal({ PETGATE_CONFIG: join(folder, 'several.yaml'), LOG_LEVEL: 'loud' });
  t.same(
    error.problems.map(({ file, line, path }) => `${basename(file)}:${line} ${path}`),
    [
      'environment variable LOG_LEVEL:0 log.level',
      'several.yaml:1 realm',
      'several.yaml:2 listen.port',
      'limit-zero.yaml:2 free.limits.minute',
    ],
  );
  t.match(renderProblems(error), /several\.yaml:2:17: listen\.port: must be/);
  t.match(renderProblems(error), /\n4 problems, nothing was started or changed\.$/);
  t.end();
});

t.test('a mistake in a file that is extended is told at its place there', (t) => {
  const [problem] = refusal({ PETGATE_CONFIG: join(folder, 'base-broken.yaml') }).problems;
  t.match(problem, { line: 3, column: 3, path: 'listen.hots' });
  t.equal(basename(problem!.file), 'unknown-key.yaml');
  t.end();
});

t.test('a bad variable is refused by its name, its value unseen', (t) => {
  const bad = {
    PORT: '80a',
    HOST: 'sesame host',
    ADMIN_PORT: '-1',
    ADMIN_HOST: 'sesame/',
    REDIS_URL: 'http://:sesame@host',
    PETS_URL: 'http://ok:1,sesame',
    STORE_URL: 'ftp://sesame',
    PETGATE_WORKERS: '1.5',
    LOG_LEVEL: 'sesame',
  };
  const error = refusal(bad);
  t.same(
    error.problems.map(({ file }) => file).sort(),
    Object.keys(bad)
      .map((name) => `environment variable ${name}`)
      .sort(),
  );
  t.notMatch(renderProblems(error), 'sesame');
  t.end();
});

for (const [name, value, what] of [
  ['PETGATE_EVENTS_URL', 'http://sesame.example.com/', /must begin with https:\/\//],
  ['PETGATE_EVENTS_URL', 'https://10.0.0.1/sesame', /not lead to a local address, unless allow_local is true/],
  ['PETGATE_EVENTS_URL', 'https://[::ffff:127.0.0.1]/sesame', /not lead to a local address/],
  ['PETGATE_EVENTS_URL', 'https://user:sesame@hooks.example.com/', /without user, password and fragment/],
  ['PETGATE_EVENTS_ALLOW_LOCAL', 'sesame', /must be true or false/],
] as const) {
  t.test(`${name} ${String(what)} is refused, its value unseen`, (t) => {
    const told = renderProblems(refusal({ [name]: value }));
    t.match(told, what);
    t.match(told, name);
    t.notMatch(told, 'sesame');
    t.end();
  });
}

t.test('a PETGATE_CONFIG that cannot be read is refused by that name', (t) => {
  const empty = t.testdir({});
  t.match(
    refusal({ PETGATE_CONFIG: join(empty, 'no.yaml') }).message,
    /^environment variable PETGATE_CONFIG: .*no\.yaml: no such file$/,
  );
  t.match(refusal({ PETGATE_CONFIG: empty }).message, /this is a folder/);
  writeFileSync(join(empty, 'latin.yaml'), Buffer.from([0x72, 0x3a, 0x20, 0xff]));
  t.match(refusal({ PETGATE_CONFIG: join(empty, 'latin.yaml') }).message, /not UTF-8/);
  t.end();
});

t.test('a file nested without bound is refused, not crashed on', (t) => {
  const path = join(t.testdir({}), 'deep.yaml');
  writeFileSync(path, `realm: ${'['.repeat(100_000)}`);
  t.equal(refusal({ PETGATE_CONFIG: path }).problems.length, 1);
  t.end();
});

t.test('whatever a file holds, it is loaded or refused with a place, never crashed on', (t) => {
  const path = join(t.testdir({}), 'any.yaml');
  const word = fc.constantFrom(
    'listen',
    'port',
    'store',
    'redis',
    'upstreams',
    'pets',
    'plans',
    'extends',
    ': ',
    ':\n  ',
    '\n',
    '- ',
    '{',
    '}',
    '[',
    ']',
    '&a ',
    '*a',
    '!!str ',
    '? ',
    '"',
    '|',
    '\t',
    '8080',
    'null',
    '__proto__',
    '---',
    '%',
    '<<',
  );
  const text = fc.oneof(
    fc.array(word, { maxLength: 25 }).map((words) => words.join('')),
    fc.string(),
  );
  fc.assert(
    fc.property(text, (text) => {
      writeFileSync(path, text);
      try {
        loadSettings({ PETGATE_CONFIG: path });
      } catch (error) {
        return (
          error instanceof ConfigError &&
          error.problems.length > 0 &&
          error.problems.every(({ file, message }) => file !== '' && message !== '')
        );
      }
      return true;
    }),
    { numRuns: 1000 },
  );
  t.end();
});
