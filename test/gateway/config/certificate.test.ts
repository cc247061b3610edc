import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import t from 'tap';
import type { Test } from 'tap';
import { readCertificate } from '../../../src/gateway/config/certificate.js';
import { explainSettings } from '../../../src/gateway/config/explain.js';
import { ConfigError, loadSettings, loadSources } from '../../../src/gateway/config/load.js';
import { packageRoot } from '../../../src/shared/package-root.js';
import { issueCertificate, type Issued } from '../../servers/certificate.js';
import { startProgram, temporaryFolder } from '../../servers/program.js';

const DAY_MS = 86_400_000;
const folder = temporaryFolder(t);
const good = issueCertificate(folder, 'good');
const other = issueCertificate(folder, 'other');
const ended = issueCertificate(folder, 'ended', { fromMs: Date.now() - 9 * DAY_MS, toMs: Date.now() - DAY_MS });
const early = issueCertificate(folder, 'early', { fromMs: Date.now() + DAY_MS });
const weak = issueCertificate(folder, 'weak', { algorithm: 'rsa:512' });
const locked = issueCertificate(folder, 'locked', { passphrase: 'sesame' });
const pets = join(folder, 'pets.txt');
writeFileSync(pets, 'cats and dogs\n');
const cut = join(folder, 'cut.crt');
writeFileSync(cut, good.ca.slice(0, 300));

/** A settings file that names this pair, and whatever `more` says. */
function settingsWith(t: Test, tls: { readonly cert?: string; readonly key?: string }, more = ''): NodeJS.ProcessEnv {
  const file = join(temporaryFolder(t), 'gateway.yaml');
  const plans = JSON.stringify(join(packageRoot, 'config/plans.yaml'));
  const pair = (['cert', 'key'] as const).map((part) => (tls[part] === undefined ? '' : `  ${part}: ${tls[part]}\n`));
  writeFileSync(file, `plans: ${plans}\n${more}tls:\n${pair.join('')}`);
  return { PETGATE_CONFIG: file };
}

function refusal(environment: NodeJS.ProcessEnv): ConfigError {
  try {
    loadSources(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('the mistake was not noticed');
}

const mistakes: readonly (readonly [string, Partial<Issued>, readonly RegExp[]])[] = [
  [
    'no such files',
    { cert: 'no.crt', key: 'no.key' },
    [/tls\.cert: .*no\.crt: no such file; put it there/, /tls\.key: .*no\.key: no such file/],
  ],
  ['a folder', { cert: folder, key: good.key }, [/tls\.cert: .*: this is a folder; name a file/]],
  [
    'no certificate',
    { cert: pets, key: good.key },
    [/tls\.cert: .*pets\.txt: no certificate in PEM form .*; name the file/],
  ],
  ['a certificate cut short', { cert: cut, key: good.key }, [/tls\.cert: .*cut\.crt: no certificate in PEM form/]],
  ['no key', { cert: good.cert, key: pets }, [/tls\.key: .*pets\.txt: no private key in PEM form .*; name the file/]],
  [
    'the two exchanged',
    { cert: good.key, key: good.cert },
    [/tls\.cert: .*no certificate/, /tls\.key: .*no private key/],
  ],
  ['a locked key', { cert: locked.cert, key: locked.key }, [/tls\.key: .*has a passphrase; store it without/]],
  [
    "another certificate's key",
    { cert: good.cert, key: other.key },
    [/tls\.key: .*other\.key: this key does not belong to the certificate in .*good\.crt; put both/],
  ],
  [
    'an ended certificate',
    { cert: ended.cert, key: ended.key },
    [/tls\.cert: .*ended\.crt: the certificate ended on .* GMT; put a renewed one there/],
  ],
  [
    "an ended certificate, another's key",
    { cert: ended.cert, key: good.key },
    [/tls\.cert: .*ended on/, /tls\.key: .*does not belong/],
  ],
  ['a certificate of tomorrow', { cert: early.cert, key: early.key }, [/tls\.cert: .*not valid before .*clock/]],
  [
    'a key too small for TLS',
    { cert: weak.cert, key: weak.key },
    [/tls\.cert: .*not accepted by TLS \(ERR_SSL_EE_KEY_TOO_SMALL\); have a new certificate made/],
  ],
  ['only a certificate', { cert: good.cert }, [/tls\.key: missing; must be a path/]],
  ['only a key', { key: good.key }, [/tls\.cert: missing; must be a path/]],
];

for (const [name, tls, what] of mistakes) {
  t.test(`${name}: refused, with the file, the place that names it, and what to do`, (t) => {
    const { problems, message } = refusal(settingsWith(t, tls));
    t.equal(problems.length, what.length, message);
    for (const [index, line] of message.split('\n').entries()) t.match(line, what[index]);
    t.ok(
      problems.every(({ file, line }) => file.endsWith('gateway.yaml') && line >= 2),
      'at a line of the settings',
    );
    t.notMatch(message, /sesame|PRIVATE KEY-----\n|[A-Za-z0-9+/]{40}/, 'nothing of a key is shown');
    t.end();
  });
}

t.test('a file that may not be read is told as such', (t) => {
  const faults: object[] = [];
  const root = process.geteuid?.() === 0;
  chmodSync(other.key, 0);
  // Root may read everything, so for this moment it is nobody.
  if (root) process.seteuid!(65_534);
  t.equal(
    readCertificate(other, (part, message) => faults.push({ part, message })),
    null,
  );
  if (root) process.seteuid!(0);
  chmodSync(other.key, 0o600);
  t.match(faults.at(-1), {
    part: 'key',
    message: /other\.key: no permission to read it; give it to the user the gateway runs as/,
  });
  t.end();
});

t.test('mistakes of the certificate stand beside all others', (t) => {
  const { problems } = refusal(
    settingsWith(t, { cert: ended.cert, key: other.key }, 'realm: 5\nlisten: { port: x }\n'),
  );
  t.strictSame(
    problems.map(({ path }) => path),
    ['realm', 'listen.port', 'tls.cert', 'tls.key'],
  );
  t.end();
});

t.test('paths are relative to the file that names them; variables win, and are named in what is wrong', (t) => {
  const environment = settingsWith(t, { cert: '../elsewhere.crt', key: good.key });
  t.match(loadSettings(environment).tls, { key: good.key, cert: join(tmpdir(), 'elsewhere.crt') });
  const source = loadSources({ ...environment, PETGATE_TLS_CERT: good.cert });
  t.equal(source.certificate?.serial, good.serial);
  t.ok(Math.abs(source.certificate!.notAfterMs - Date.now() - 365 * DAY_MS) < 60_000, 'and it knows when it ends');
  t.match(
    refusal({ PETGATE_TLS_CERT: other.cert, PETGATE_TLS_KEY: good.key }).message,
    /^environment variable PETGATE_TLS_KEY: tls\.key: .*does not belong/,
  );
  t.equal(loadSources({}).certificate, null, 'without either there is no TLS');
  t.end();
});

t.test('the file may hold a whole chain, and the key may stand in it too', (t) => {
  const both = join(temporaryFolder(t), 'both.pem');
  writeFileSync(both, readFileSync(good.key, 'utf8') + good.ca + other.ca);
  t.equal(loadSources(settingsWith(t, { cert: both, key: both })).certificate?.serial, good.serial);
  t.end();
});

t.test('a broken link of the chain is noticed too', (t) => {
  const chain = join(temporaryFolder(t), 'chain.pem');
  writeFileSync(chain, `${good.ca}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`);
  t.match(
    refusal(settingsWith(t, { cert: chain, key: good.key })).message,
    /tls\.cert: .*chain\.pem: not accepted by TLS/,
  );
  t.end();
});

t.test('whatever prints or serializes a certificate does not see its key', (t) => {
  const { certificate, ...rest } = loadSources(settingsWith(t, good));
  const secret = readFileSync(good.key, 'utf8').split('\n')[1]!;
  t.notMatch(
    JSON.stringify({ certificate, rest }) + inspect({ certificate, rest }, { depth: 9, showHidden: true }),
    secret,
  );
  t.ok(certificate!.pem().key.includes(secret), 'though it is there');
  t.strictSame(
    explainSettings(settingsWith(t, good))
      .filter(({ path }) => path === 'tls.cert' || path === 'tls.key')
      .map(({ value }) => value),
    [good.cert, good.key],
    'paths may be seen',
  );
  t.end();
});

t.test('petgate config check tells it, and the gateway does not start on it', async (t) => {
  const environment = {
    ...settingsWith(t, { cert: good.cert, key: other.key }),
    PETGATE_DATA: temporaryFolder(t),
    PATH: process.env['PATH'] ?? '',
  } as Record<string, string>;
  for (const args of [['config', 'check'], ['gateway']]) {
    const program = startProgram(args, environment);
    t.match(await program.exited, { code: 1 }, args.join(' '));
    t.match(
      program.output(),
      /gateway\.yaml:4:8: tls\.key: .*other\.key: this key does not belong to the certificate in .*good\.crt/,
    );
  }
  const check = startProgram(['config', 'check'], { ...environment, PETGATE_TLS_KEY: good.key });
  t.match(await check.exited, { code: 0 }, check.output());
});
