import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { stringify } from 'yaml';
import { fingerprintOf } from '../../../src/gateway/config/fingerprint.js';
import { ConfigError, loadSettings, loadSources } from '../../../src/gateway/config/load.js';
import type { UpstreamSettings } from '../../../src/gateway/config/schema/upstream.js';
import { packageRoot } from '../../../src/shared/package-root.js';
import { issueCertificate } from '../../servers/certificate.js';
import { temporaryFolder } from '../../servers/program.js';

const DAY_MS = 86_400_000;
const folder = temporaryFolder(t);
const good = issueCertificate(folder, 'good');
const other = issueCertificate(folder, 'other');
const over = issueCertificate(folder, 'over', { fromMs: Date.now() - 9 * DAY_MS, toMs: Date.now() - DAY_MS });

function put(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}

/** Settings whose upstream `default` is over https and says this. */
function environmentOf(said: Readonly<Record<string, unknown>>): NodeJS.ProcessEnv {
  const upstreams = { default: { addresses: ['https://api.internal'], ...said } };
  put('gateway.yaml', stringify({ plans: join(packageRoot, 'config/plans.yaml'), upstreams }));
  return { PETGATE_CONFIG: join(folder, 'gateway.yaml'), LOGIN: 'me:sesame', EMPTY: ' ' };
}

const load = (said: Readonly<Record<string, unknown>>): UpstreamSettings =>
  loadSources(environmentOf(said)).settings.upstreams['default']!;

function refusal(said: Readonly<Record<string, unknown>>): ConfigError {
  try {
    load(said);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('the mistake was not noticed');
}

t.test('what files and variables hold is read with the settings, and watched', (t) => {
  const pair = { cert: good.cert, key: good.key };
  const chain = put('chain.pem', `# ours\n${other.ca}\nand\n${over.ca}`);
  const authorization = { file: put('token', '\t abc \n') };
  const { settings, files } = loadSources(environmentOf({ ca: chain, ...pair, authorization }));
  const { tls, authorization: secret } = settings.upstreams['default']!;
  t.equal(tls.ca?.match(/BEGIN CERTIFICATE/g)?.length, 2);
  t.same([tls.cert, tls.key], [readFileSync(good.cert, 'utf8'), readFileSync(good.key, 'utf8')]);
  t.same(secret, { header: 'Authorization', credential: 'Bearer abc', secrets: ['abc'] });
  for (const file of ['chain.pem', 'good.crt', 'good.key', 'token']) t.ok(files.includes(join(folder, file)), file);
  t.equal(load({ cert: over.cert, key: over.key }).tls.cert, over.ca, 'one that ended keeps no gateway from starting');
  t.equal(load({}).authorization, 'none');
  t.end();
});

t.test('who only wants to know an address reads none of them', (t) => {
  const { tls, authorization } = loadSettings(environmentOf({ ca: 'nowhere', authorization: { file: 'nowhere' } }))
    .upstreams['default']!;
  t.same([tls.ca, authorization], [null, 'none']);
  t.end();
});

t.test('what gateways have in common says nothing of secrets', (t) => {
  const hashOf = (token: string): string => {
    put('token', token);
    const { settings } = loadSources(environmentOf({ authorization: { header: 'X-Key', file: 'token' } }));
    return fingerprintOf(settings, '').settings;
  };
  t.equal(hashOf('one'), hashOf('two'));
  t.end();
});

for (const [what, said, path, message] of [
  ['a missing file', { ca: 'nowhere.pem' }, 'ca', /nowhere\.pem: no such file/],
  ['no certificate', { ca: put('cats.pem', 'cats') }, 'ca', /no certificate in PEM form/],
  [
    'a broken one',
    { ca: put('cut.pem', good.ca.replace(/(BEGIN CERTIFICATE-----\n).{40}/, '$1')) },
    'ca',
    /one of its certificates is damaged/,
  ],
  ['the key of another', { cert: good.cert, key: other.key }, 'key', /does not belong to the certificate/],
  ['no secret', { authorization: { file: put('empty', '\n') } }, 'authorization.file', /is empty/],
  ['a folder', { authorization: { file: '.' } }, 'authorization.file', /name a file/],
  ['a long secret', { authorization: { file: put('long', 'x'.repeat(9000)) } }, 'authorization.file', /too long/],
  ['an unset variable', { authorization: { variable: 'NOWHERE' } }, 'authorization.variable', /NOWHERE is not set/],
  ['an empty variable', { authorization: { variable: 'EMPTY' } }, 'authorization.variable', /EMPTY is empty/],
  ['a token with its scheme', { authorization: { file: put('bearer', 'Bearer sesame') } }, 'authorization', /"Bearer"/],
  [
    'no user',
    { authorization: { scheme: 'basic', file: put('sesame', 'sesame') } },
    'authorization',
    /user:password in one line/,
  ],
  [
    'two lines',
    { authorization: { header: 'X-Key', file: put('lines', 'sesame\nsesame') } },
    'authorization',
    /in one line; it is not shown/,
  ],
] as const) {
  t.test(`${what} is refused`, (t) => {
    const { problems, message: text } = refusal(said);
    t.same(
      problems.map((problem) => problem.path),
      [`upstreams.default.${path}`],
    );
    t.match(problems[0]?.message, message);
    t.notMatch(text.replaceAll(/[^ ]*\/sesame/g, ''), 'sesame', 'no secret is shown');
    t.end();
  });
}
