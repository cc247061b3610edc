import t from 'tap';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/shared/package-root.js';
import { ADMIN_TOKEN, listen } from '../gateway/admin/listener.js';
import { command } from './commands.js';
import { operator } from './operator.js';
import { dataFolder, petgate, surroundings } from './programs.js';

t.test(
  'a key is created, shown, listed, changed, rotated, disabled, enabled, revoked; exit code 0 each time',
  async (t) => {
    const { run, json } = await operator(t);
    const made = await json('keys', 'create', '--plan', 'free', '--name', 'My app', '--scope', 'pets:read');
    const [id, key] = [String(made['id']), String(made['key'])];
    t.match(key, /^ptg_staging_/);
    const steps: readonly (readonly [RegExp, ...string[]])[] = [
      [/My app/, 'keys', 'show', id],
      [/My app/, 'keys', 'list'],
      [/plan +pro/, 'keys', 'change', id, '--plan', 'pro', '--all-scopes', '--expires', '2030-12-05'],
      [
        /New secret made.*only this once[^]*The previous secret is valid until 2/,
        'keys',
        'rotate',
        id,
        '--overlap',
        '1h',
      ],
      [/is disabled/, 'keys', 'disable', id],
      [/is enabled/, 'keys', 'enable', id],
      [/until/, 'bans', 'start', id, '--for', '1h', '--reason', 'runs in a loop'],
      [new RegExp(id), 'bans', 'list'],
      [/state .*\n.*banned until 20\d\d-/, 'keys', 'list'],
      [/ban +until 20.*, level 1, by .*: runs in a loop/, 'keys', 'show', id],
      [/is lifted/, 'bans', 'lift', id],
      [/No bans\./, 'bans', 'list'],
      [/No bans of addresses/, 'bans', 'list', '--addresses'],
      [/runs in a loop/, 'keys', 'history', id],
      [/is revoked/, 'keys', 'revoke', id],
      [/revoked/, 'keys', 'list', '--status', 'revoked'],
      [/total/, 'usage', '--by', 'plan,day'],
      [/^key,name,requests,.*\r\ntotal,,0,0,0,0,0,0\r\n$/, 'usage', '--by', 'key', '--format', 'csv'],
      [/from 2024-02-01 to 2024-02-29/, 'usage', '--month', '2024-02'],
    ];
    for (const [expected, ...args] of steps) {
      const { code, stdout, stderr } = await run(...args);
      t.equal(code, 0, `${args.join(' ')}: ${stderr}`);
      t.match(stdout, expected);
      t.equal(stderr, '');
      t.notOk(stdout.includes(key), 'the key is shown by create alone');
      t.notMatch(stdout, '\u001b', 'no colours off a terminal');
    }
  },
);

t.test('every listing speaks JSON', async (t) => {
  const { run, json } = await operator(t);
  const limits = ['--minute', '5000', '--day', 'unlimited', '--month', '900000'];
  const id = String((await json('keys', 'create', '--plan', 'enterprise', '--name', 'Big', ...limits))['id']);
  await run('bans', 'start', id, '--for', '1h');
  t.match(await json('keys', 'list'), { keys: [{ id, limits: { minute: 5000, day: 'unlimited', month: 900_000 } }] });
  t.match(await json('keys', 'show', id), { id });
  t.match(await json('bans', 'list'), { bans: [{ key: id }] });
  t.match(await json('keys', 'history', id), { history: [{}, {}] });
  t.match(await json('usage'), { rows: [], totals: { requests: 0 } });
});

t.test('a key of another form is read from standard input, never from the command line', async (t) => {
  const { env, run } = await operator(t, {}, { acceptImported: true });
  const made = await petgate(
    ['keys', 'create', '--plan', 'free', '--name', 'Old app', '--import', '--json'],
    env,
    'sk-live-0123456789abcdef\n',
  );
  t.match(JSON.parse(made.stdout), { id: /^i/, key: 'sk-live-0123456789abcdef' });
  const whole = await run('keys', 'show', 'ptg_staging_3hT9sQ0aZk1Bsecretsecretsecret');
  t.equal(whole.code, 2);
  t.match(whole.stderr, 'whole key');
  t.notMatch(whole.stderr, 'secretsecret', 'and not repeated');
});

t.test('exit code 1: what the gateway refuses, in its own words', async (t) => {
  const { run } = await operator(t);
  for (const [expected, ...args] of [
    ['did you mean "free"', 'keys', 'create', '--plan', 'fre', '--name', 'x'],
    ['limits', 'keys', 'create', '--plan', 'enterprise', '--name', 'x', '--minute', 'many', '--day', '5'],
    ['no key has this id', 'keys', 'show', 'abcdefghijkl'],
    ['no key has this id', 'keys', 'show', '../bans'],
    ['for: must be', 'bans', 'start', 'abcdefghijkl', '--for', 'ever'],
    ['must be a calendar day', 'usage', '--from', 'yesterday'],
    ['did you mean "key"', 'usage', '--by', 'kye'],
    ['No ban of this address', 'bans', 'lift', '2001:db8::/64'],
    ['Give an address such as', 'bans', 'lift', '192.0.2'],
  ] as const) {
    const { code, stderr, stdout } = await run(...args);
    t.equal(code, 1, args.join(' '));
    t.match(stderr, expected);
    t.equal(stdout, '');
    t.notMatch(stderr, '    at ', 'no stack trace');
  }
});

t.test('exit code 2: wrong use, with a hint', async (t) => {
  const env = surroundings(dataFolder(t));
  for (const [expected, ...args] of [
    ['Did you mean keys?', 'kyes'],
    ['a month such as 2026-11', 'usage', '--month', '2026-13'],
    ['either --month or --from and --to', 'usage', 'report', '--month', '2026-11', '--from', '2026-11-02'],
    ['Did you mean create?', 'keys', 'craete'],
    ['Did you mean --plan?', 'keys', 'list', '--plna', 'free'],
    ['Usage', 'keys'],
    ['Usage'],
    ['missing required argument', 'keys', 'show'],
    ['Allowed choices', 'usage', '--format', 'xml'],
    ['--admin-url must be', '--admin-url', 'nowhere', 'keys', 'list'],
    ['--admin-url must be', '--admin-url', 'http://user:secret@127.0.0.1', 'keys', 'list'],
  ] as const) {
    const { code, stderr } = await command(args, { ...env, PETGATE_ADMIN_TOKEN: 'x' });
    t.equal(code, 2, args.join(' '));
    t.match(stderr, expected);
  }
});

t.test('exit code 0: help and version, with examples, without a gateway', async (t) => {
  const env = surroundings(dataFolder(t));
  for (const args of [['--help'], ['keys', '--help'], ['bans', '--help'], ['usage', '--help'], ['config', '--help']]) {
    t.match(await command(args, env), { code: 0, stdout: 'Examples:' });
  }
  t.match(await petgate(['--version'], env), { code: 0, stdout: /^\d+\.\d+\.\d+\n$/ });
});

t.test(
  'a gateway that is not running, and a token that is missing or wrong, are each told in a clear line',
  async (t) => {
    const folder = dataFolder(t);
    const list = (port: number | string) =>
      command(['keys', 'list'], surroundings(folder, { ADMIN_PORT: String(port) }));
    const missing = await list('1');
    t.match(missing, { code: 1, stderr: /no admin token.*admin-token does not exist/ });
    writeFileSync(join(folder, 'admin-token'), 'not-the-one-0123456789\n');
    const away = await list('1');
    t.match(away, { code: 1, stderr: /The gateway is not running at http:\/\/127\.0\.0\.1:1\. Start it with/ });
    const { port } = await listen(t);
    const wrong = await list(port);
    t.match(wrong, { code: 1, stderr: /rejected the admin token in .*admin-token.\nRun the command in the folder/ });
    t.notMatch(wrong.stderr, 'not-the-one');
    writeFileSync(join(folder, 'admin-token'), `${ADMIN_TOKEN}\n`);
    t.equal((await list(port)).code, 0, 'the file is enough');
  },
);

t.test('config check reads what the gateway would read', async (t) => {
  const folder = dataFolder(t);
  t.match(await command(['config', 'check'], surroundings(folder, { ADMIN_PORT: '9191' })), {
    code: 0,
    stdout: /The configuration is valid/,
  });
  const bad = join(folder, 'bad.yaml');
  writeFileSync(bad, 'listne:\n  port: 1\n');
  const refused = await command(['config', 'check'], surroundings(folder, { PETGATE_CONFIG: bad }));
  t.match(refused, { code: 1, stderr: /bad\.yaml:1/ });
  t.notMatch(refused.stderr, '    at ');
});

t.test('config check names every problem of tokens and secrets, as the start does, and repeats none', async (t) => {
  const [folder, started] = [dataFolder(t), dataFolder(t)];
  const long = 'hunter2-hunter2-hunter2';
  const bad = join(folder, 'bad.yaml');
  writeFileSync(bad, 'listne:\n  port: 1\n');
  const unreadable = join(folder, 'unreadable');
  for (const name of ['admin-token', 'internal-token']) mkdirSync(join(unreadable, name), { recursive: true });
  for (const [more, ...words] of [
    [
      { PETGATE_ADMIN_TOKEN: 'hunter2', PETGATE_INTERNAL_TOKEN: 'hunter2 hunter2 hunter2' },
      'PETGATE_ADMIN_TOKEN must have 16 characters or more',
      'PETGATE_INTERNAL_TOKEN must be visible ASCII characters without spaces',
    ],
    [{ PETGATE_ADMIN_TOKEN: long, PETGATE_INTERNAL_TOKEN: long }, 'are the same'],
    [
      { PETGATE_ADMIN_TOKEN: 'hunter2', PETGATE_EVENTS_URL: 'https://hooks.example.com/' },
      'PETGATE_ADMIN_TOKEN must have 16',
      'Events are sent signed: set PETGATE_EVENTS_SECRET',
    ],
    [
      { PETGATE_DATA: unreadable },
      /the file internal-token in .* can't be read \(EISDIR\).* or set PETGATE_INTERNAL_TOKEN/,
      /the file admin-token in .* can't be read \(EISDIR\).* or set PETGATE_ADMIN_TOKEN/,
    ],
  ] as const) {
    for (const args of [['config', 'check'], ['gateway']]) {
      const refused = await petgate(args, surroundings(args[0] === 'gateway' ? started : folder, more));
      t.match(refused, { code: 1, stdout: '' }, JSON.stringify(refused));
      for (const word of words) t.match(refused.stderr, word);
      t.notMatch(refused.stderr, /hunter2|    at /);
    }
  }
  const both = surroundings(folder, { PETGATE_CONFIG: bad, PETGATE_ADMIN_TOKEN: 'hunter2' });
  const words = /bad\.yaml:1[^]*PETGATE_ADMIN_TOKEN must have 16/;
  t.match(await command(['config', 'check'], both), { code: 1, stderr: words }, 'beside those of the settings');
  const fine = { PETGATE_ADMIN_TOKEN: `${long}1`, PETGATE_INTERNAL_TOKEN: `${long}2` };
  t.equal((await command(['config', 'check'], surroundings(folder, fine))).code, 0);
  t.same(readdirSync(folder).sort(), ['bad.yaml', 'unreadable'], 'and nothing is made');
});

t.test('output that cannot be written is an error; a reader that has enough is none', (t) => {
  const program = join(packageRoot, 'dist/program/main.js');
  const shell = (line: string) => spawnSync('bash', ['-c', line, process.execPath, program], { encoding: 'utf8' });
  t.match(shell('"$0" "$1" --help > /dev/full'), {
    status: 1,
    stderr: /^error: The output can't be written \(ENOSPC\)\.\n$/,
  });
  t.match(shell('set -o pipefail; "$0" "$1" --help | true'), { status: 0, stderr: /^$/ });
  t.end();
});
