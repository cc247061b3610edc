import type { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createProgram } from '../../src/cli/program.js';
import { ROUTES } from '../../src/gateway/admin/routes.js';
import { readEnvironment } from '../../src/gateway/config/files/environment.js';
import { STEPS } from '../../src/gateway/pipeline.js';
import { REFUSALS } from '../../src/gateway/refusal.js';
import { VARIABLES } from '../../src/shared/names/variables.js';
import { packageRoot } from '../../src/shared/package-root.js';

/** The rows of a page whose first cell is code, as lists of cells. */
function rowsOf(path: string): readonly (readonly string[])[] {
  return [...readFileSync(join(packageRoot, path), 'utf8').matchAll(/^\| `(.*)\|$/gm)].map(([row]) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const bare = (cell: string | undefined): string => (cell ?? '').replaceAll('`', '');

t.test('docs/architecture.md lists the steps of the pipeline, in order', (t) => {
  t.strictSame(
    rowsOf('docs/architecture.md').map(([step]) => bare(step)),
    STEPS,
  );
  t.end();
});

t.test('the figures of the README are those of docs/guides/speed.md, each with its condition', (t) => {
  const cellsOf = (path: string, first: RegExp): readonly (readonly string[])[] =>
    [...readFileSync(join(packageRoot, path), 'utf8').matchAll(/^\| (.*) \|$/gm)]
      .map(([, row = '']) => row.split('|').map((cell) => cell.trim()))
      .filter(([name = '']) => first.test(name));
  // The first table of the page: gateway µs, Redis µs, × bare, × nginx, × fastify, × express.
  const measured = new Map(
    cellsOf('docs/guides/speed.md', /^(embedded|redis)(\+log)?$/)
      .slice(0, 4)
      .map(([name = '', , , overBare, , fastify]) => [name, [overBare, fastify]]),
  );
  const shown = cellsOf('README.md', /^(embedded|Redis)$/);
  t.equal(shown.length, 4);
  for (const [store = '', log = '', ...figures] of shown) {
    const name = `${store.toLowerCase()}${log.startsWith('on') ? '+log' : ''}`;
    t.strictSame(figures, measured.get(name), name);
  }
  t.end();
});

t.test('docs/reference/errors.md explains every refusal of the catalogue, with its status', (t) => {
  const explained = Object.fromEntries(
    rowsOf('docs/reference/errors.md').map(([code, status]) => [bare(code), Number(status)]),
  );
  t.strictSame(explained, Object.fromEntries(Object.values(REFUSALS).map(({ code, status }) => [code, status])));
  t.end();
});

t.test('docs/reference/admin-api.md lists every route of the admin port, with its query parameters and role', (t) => {
  const told = rowsOf('docs/reference/admin-api.md').map(([route, what = '', role]) =>
    [role, bare(route), ...[...what.matchAll(/`(\w+)`/g)].map(([, name]) => name)].join(' '),
  );
  const real = ROUTES.map(({ role, method, path, query = {} }) =>
    [role === 'open' ? '-' : role, method, path, ...Object.keys(query)].join(' '),
  );
  t.strictSame([...told].sort(), [...real].sort());
  t.end();
});

t.test('docs/reference/settings.md explains every variable, and no other is known', (t) => {
  const asked: string[] = [];
  readEnvironment(new Proxy({}, { get: (_, name) => void asked.push(String(name)) }));
  t.ok(asked.length > 10, 'the variables were asked for');
  t.strictSame(
    asked.filter((name) => !VARIABLES.includes(name)),
    [],
    'each that wins over the settings files is known',
  );
  const told = rowsOf('docs/reference/settings.md').flatMap(([names = '']) => names.split(', ').map(bare));
  t.strictSame(told.sort(), [...VARIABLES].sort());
  t.end();
});

t.test('docs/reference/cli.md lists every command, and no other', async (t) => {
  const leaves = (command: Command): readonly Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
  const nameOf = (command: Command): string =>
    command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
  const named = rowsOf('docs/reference/cli.md').flatMap(([cell = '']) => {
    const [group = '', ...commands] = [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    return commands.length === 0 ? [group] : commands.map((command) => `${group} ${command}`);
  });
  t.strictSame(
    named.sort(),
    leaves(await createProgram(['completion']))
      .map(nameOf)
      .sort(),
  );
});
