import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import type * as AdminDescription from '../../src/gateway/admin/describe.js';
import type * as Load from '../../src/gateway/config/load.js';
import type * as AdminRoutes from '../../src/gateway/admin/routes.js';
import type * as ConsoleForms from '../../src/gateway/console/forms/table.js';
import type * as ConsolePages from '../../src/gateway/console/pages.js';
import { packageRoot } from '../../src/shared/package-root.js';

const CONTRIBUTING = readFileSync(join(packageRoot, 'CONTRIBUTING.md'), 'utf8');

/** What a recipe says it touches by hand, and the files it names. */
function recipe(name: string): { readonly files: number; readonly named: readonly string[] } {
  const [, files = '', text = ''] =
    new RegExp(`\\*\\*${name}: (\\d+) files\\*\\*\\n([^]*?)\\n\\n`).exec(CONTRIBUTING) ?? [];
  const named = [...text.matchAll(/`((?:src|config|test|docs)\/[\w/.-]+\.(?:ts|lua|yaml|md))`/g)];
  return { files: Number(files), named: [...new Set(named.map(([, path = '']) => path))] };
}

/** The built program with its settings and documentation, somewhere else. */
function copyOf(t: Test): string {
  const copy = t.testdir({});
  for (const part of ['dist/src', 'config', 'docs/reference', 'package.json']) {
    mkdirSync(dirname(join(copy, part)), { recursive: true });
    cpSync(join(packageRoot, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(packageRoot, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** The files that were changed by hand in a copy, as paths of sources. */
const touched = new Map<string, string[]>();

function change(copy: string, path: string, from: string | RegExp, to: string): void {
  const text = readFileSync(join(copy, path), 'utf8');
  const changed = text.replace(from, to);
  if (changed === text) throw new Error(`${path} has no ${String(from)}`);
  writeFileSync(join(copy, path), changed);
  touched.set(copy, [...(touched.get(copy) ?? []), path.replace(/^dist\/(.*)\.js$/, '$1.ts')]);
}

/** `config check` with a program's settings schema and a copy's files. */
function check(root: string, copy: string): void {
  execFileSync(process.execPath, [join(root, 'dist/src/cli/main.js'), 'config', 'check'], {
    env: { PATH: process.env['PATH'], PETGATE_CONFIG: join(copy, 'config/gateway.yaml') },
    stdio: 'pipe',
  });
}

function run(copy: string, program: string): void {
  execFileSync(process.execPath, [join(copy, 'dist/src/gateway', program)]);
}

t.test('a recipe names as many files as it says it touches, and they are there', (t) => {
  // Beside those that it names: the step that refuses, where a setting is used, a metric, an action with its test.
  const UNNAMED = { 'A refusal': 1, 'A plan field': 0, 'A setting': 1, 'A counter': 1, 'An action': 3 };
  for (const [name, unnamed] of Object.entries(UNNAMED)) {
    const { files, named } = recipe(name);
    t.equal(named.length + unnamed, files, name);
    for (const path of named) t.ok(existsSync(join(packageRoot, path)), `${name}: ${path}`);
  }
  t.end();
});

t.test('a refusal that joins the catalogue stands in the contract and on the page of errors', (t) => {
  const copy = copyOf(t);
  const entry =
    `teapot: { status: 418, message: 'I am one.', meaning: ` + `'tea was asked for', remedy: 'ask for coffee' },`;
  change(copy, 'dist/src/gateway/refusals/catalogue.js', 'not_found: {', `${entry}\nnot_found: {`);
  run(copy, 'contract/write.js');
  const text = (path: string): string => readFileSync(join(copy, path), 'utf8');
  t.match(text('config/openapi.yaml'), /^ +- teapot$/m);
  t.match(text('config/openapi.yaml'), 'teapot: { value: { code: teapot, message: I am one., status: 418 } }');
  t.match(text('config/openapi.json'), '"teapot"');
  t.match(text('docs/reference/errors.md'), '\n| `teapot` | 418 | tea was asked for | ask for coffee |\n');
  t.ok(touched.get(copy)!.every((path) => recipe('A refusal').named.includes(path)));
  t.end();
});

t.test('a field that joins the schema of plans is known to editors and to the loader', (t) => {
  const copy = copyOf(t);
  change(
    copy,
    'dist/src/gateway/config/schema/plans.js',
    'retired: bool',
    `colour: z.string().optional(), retired: bool`,
  );
  change(copy, 'config/plans.yaml', /^free:$/m, 'free:\n  colour: red');
  run(copy, 'config/schema/write.js');
  t.match(readFileSync(join(copy, 'config/schema/plans.schema.json'), 'utf8'), '"colour"');
  t.doesNotThrow(() => check(copy, copy));
  t.throws(() => check(packageRoot, copy), /unknown key/, 'where it did not join it is refused');
  // That a plan has it is its use.
  const own = touched.get(copy)!.filter((path) => path !== 'config/plans.yaml');
  t.ok(own.every((path) => recipe('A plan field').named.includes(path)));
  t.end();
});

t.test(
  'a setting that joins the schema is known to editors, to the loader and, by its name, to the code',
  async (t) => {
    const copy = copyOf(t);
    change(
      copy,
      'dist/src/gateway/config/schema/gateway.js',
      'workers: z',
      `patience: duration('1s', '1h').prefault('2m').describe('How patient it is.'), workers: z`,
    );
    run(copy, 'config/schema/write.js');
    t.match(readFileSync(join(copy, 'config/schema/gateway.schema.json'), 'utf8'), '"patience"');
    const { loadSettings } = (await import(join(copy, 'dist/src/gateway/config/load.js'))) as typeof Load;
    const config = join(copy, 'config/gateway.yaml');
    t.match(loadSettings({ PETGATE_CONFIG: config }), { patience: 120_000 });
    change(copy, 'config/gateway.yaml', /^environment:/m, 'patience: 5s\nenvironment:');
    t.match(loadSettings({ PETGATE_CONFIG: config }), { patience: 5_000 });
    t.ok(touched.get(copy)!.every((path) => recipe('A setting').named.includes(path)));
    change(copy, 'config/gateway.yaml', 'patience: 5s', 'patience: 2h');
    t.throws(() => check(copy, copy), /patience/);
  },
);

t.test('an action that joins the table is an admin route, a command and a form, with its fields in each', async (t) => {
  const copy = copyOf(t);
  const entry = `action('POST /admin/v1/keys/{id}/freeze', 'keys', 'Freeze a key for a while', {
    takes: NewBan,
    commands: [{ usage: 'keys freeze <id>', example: '5BkxuKZHANEf --for 1h', prints: { done: 'Frozen.' } }],
    forms: [{ on: '/keys/{id}', name: 'frozen', button: 'Freeze', opens: 'Freeze', done: 'Frozen.' }],
    handle: async () => undefined,
  }),`;
  change(copy, 'dist/src/gateway/actions/accounts/bans.js', '_ACTIONS = [', `_ACTIONS = [\n${entry}`);
  const { ROUTES } = (await import(join(copy, 'dist/src/gateway/admin/routes.js'))) as typeof AdminRoutes;
  const { describe } = (await import(join(copy, 'dist/src/gateway/admin/describe.js'))) as typeof AdminDescription;
  t.match(describe(ROUTES), {
    paths: {
      '/admin/v1/keys/{id}/freeze': {
        post: {
          summary: 'Freeze a key for a while',
          requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/NewBan' } } } },
        },
      },
    },
  });
  const main = join(copy, 'dist/src/cli/main.js');
  const help = execFileSync(process.execPath, [main, 'keys', 'freeze', '--help'], { encoding: 'utf8' });
  t.match(help, /^Usage: petgate keys freeze \[options\] <id>\n\nfreeze a key for a while\n/);
  t.match(help, '--for <duration>');
  t.match(help, 'Example:\n  petgate keys freeze 5BkxuKZHANEf --for 1h');
  const { PAGES } = (await import(join(copy, 'dist/src/gateway/console/pages.js'))) as typeof ConsolePages;
  t.match(
    PAGES.find(({ method, path }) => method === 'POST' && path === '/console/keys/{id}/frozen'),
    { role: 'keys' },
  );
  const { FORMS } = (await import(join(copy, 'dist/src/gateway/console/forms/table.js'))) as typeof ConsoleForms;
  t.strictSame(Object.keys(FORMS.find(({ form }) => form.name === 'frozen')?.fields ?? {}), ['for', 'reason']);
  t.equal(touched.get(copy)!.length, 1, 'beside what it does, its test and its page');
});
