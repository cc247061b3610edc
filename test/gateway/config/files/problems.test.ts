import { copyFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import type { Test } from 'tap';
import { ConfigError, loadSettings, renderProblems } from '../../../../src/gateway/config/load.js';
import { gatewayFile } from '../../../../src/gateway/config/schema/gateway.js';
import { inputSchema, mappingOf, type Node } from '../../../../src/gateway/config/schema/json-schema.js';
import { plansFile } from '../../../../src/gateway/config/schema/plans.js';
import { MAX_PLANS } from '../../../../src/gateway/admission/plan.js';
import { packageRoot } from '../../../../src/shared/package-root.js';
import { PLANS_MISTAKES, SETTINGS_MISTAKES, type Mistake } from './mistakes.js';
import { UPSTREAM_MISTAKES } from './upstream-mistakes.js';

const MISTAKES = [...SETTINGS_MISTAKES, ...UPSTREAM_MISTAKES];

const filesOf = (mistakes: readonly Mistake[]): Record<string, string> =>
  Object.fromEntries(mistakes.map(([name, , , text]) => [`${name}.yaml`, text]));
const folder = t.testdir({
  ...filesOf(MISTAKES),
  'base-broken.yaml': 'extends: unknown-key.yaml\nrealm: petgate\n',
  'several.yaml': "realm: ''\nlisten: { port: -1 }\nplans: plans/limit-zero.yaml\n",
  plans: filesOf(PLANS_MISTAKES),
});
copyFileSync(join(packageRoot, 'config/plans.yaml'), join(folder, 'plans.yaml'));

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

for (const [name, where, what] of MISTAKES) {
  t.test(`${name}.yaml is refused at ${where}`, (t) => {
    check(t, refusal({ PETGATE_CONFIG: join(folder, `${name}.yaml`) }), `${name}.yaml`, where, what);
    t.end();
  });
}

for (const [name, where, what] of PLANS_MISTAKES) {
  t.test(`plans/${name}.yaml is refused at ${where}`, (t) => {
    const config = join(t.testdir({}), 'gateway.yaml');
    writeFileSync(config, `plans: ${JSON.stringify(join(folder, 'plans', `${name}.yaml`))}\n`);
    check(t, refusal({ PETGATE_CONFIG: config }), `${name}.yaml`, where, what);
    t.end();
  });
}

/** The paths of all settings in a schema; `name` for names that are free to choose. */
function pathsIn(node: Node, name: string, path: readonly string[] = []): readonly (readonly string[])[] {
  const { properties, additionalProperties } = mappingOf(node) ?? {};
  const inner = properties ?? (typeof additionalProperties === 'object' ? { [name]: additionalProperties } : undefined);
  if (inner === undefined) return [path];
  return Object.entries(inner).flatMap(([key, child]) => pathsIn(child, name, [...path, key]));
}

for (const [file, schema, name] of [
  ['gateway.yaml', gatewayFile, 'pets'],
  ['plans.yaml', plansFile, 'free'],
] as const) {
  t.test(`every setting of ${file} refuses what it can't be, and says what it must be`, (t) => {
    const folder = t.testdir({});
    const paths = pathsIn(inputSchema(schema), name);
    t.ok(paths.length > 20);
    for (const path of paths) {
      // No setting is a list of lists.
      const wrong = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), [[]]);
      writeFileSync(join(folder, 'plans.yaml'), '');
      writeFileSync(join(folder, 'gateway.yaml'), '{}');
      writeFileSync(join(folder, file), JSON.stringify(wrong));
      const { problems } = refusal({ PETGATE_CONFIG: join(folder, 'gateway.yaml') });
      const [first, ...others] = problems.filter((one) => basename(one.file) === file && isWithin(one.path, path));
      t.ok(first !== undefined && others.length === 0, path.join('.'));
      t.match(first?.message, /^(?!.*(?:Invalid|expected)).*\b(?:must be|missing)/, path.join('.'));
    }
    t.end();
  });
}

function isWithin(told: string, path: readonly string[]): boolean {
  return `${told}.`.startsWith(`${path.join('.')}.`);
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
  write(MAX_PLANS);
  t.equal(loadSettings({ PETGATE_CONFIG: config }).plans.size, 1_000);
  write(MAX_PLANS + 1);
  check(t, refusal({ PETGATE_CONFIG: config }), 'plans.yaml', '1:1', /at most 1000 plans/);
  t.end();
});

t.test('all mistakes of all files and the environment are told at once, in order', (t) => {
  const error = refusal({ PETGATE_CONFIG: join(folder, 'several.yaml'), LOG_LEVEL: 'loud' });
  t.same(
    error.problems.map(({ file, line, path }) => `${basename(file)}:${line} ${path}`),
    [
      'several.yaml:1 realm',
      'several.yaml:2 listen.port',
      'environment variable LOG_LEVEL:0 log.level',
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
    /^environment variable PETGATE_CONFIG: .*no\.yaml: no such file; put it there, or correct the path$/,
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
