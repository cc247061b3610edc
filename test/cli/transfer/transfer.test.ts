import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { command } from '../commands.js';
import { operator } from '../operator.js';

function fileOf(count: number): string {
  const lines = Array.from({ length: count }, (_, n) =>
    JSON.stringify({ hash: createHash('sha256').update(`old ${n} key`).digest('hex'), plan: 'free', name: `old ${n}` }),
  );
  return `${lines.join('\n')}\n`;
}

t.test('a file of keys is imported; the store is exported, and imported again without a change', async (t) => {
  const { folder, env, run, json } = await operator(t, {}, { acceptImported: true });
  const file = join(folder, 'old.jsonl');
  writeFileSync(file, fileOf(1_500));
  const done = await run('keys', 'import', file);
  t.match(done, { code: 0, stdout: /^1500 keys imported in \d+\.\d s\.\n$/, stderr: '' });
  t.match(await run('keys', 'import', file), { code: 0, stdout: /^0 keys imported .* 1500 were here already/ });
  const copy = join(folder, 'copy.jsonl');
  t.match(await run('store', 'export', '--out', copy), { code: 0, stdout: '', stderr: '' });
  t.equal(statSync(copy).mode & 0o777, 0o600);
  const exported = readFileSync(copy, 'utf8');
  t.equal(exported.trim().split('\n').length, 1_502);
  t.match(await command(['store', 'import', '-'], env, exported), {
    code: 0,
    stdout: /^0 added, 0 changed, 1500 unchanged, 0 newer .*\nThe file is whole: 0 customers, 1500 keys, 0 admin/,
  });
  t.match(await json('store', 'import', copy), { unchanged: 1_500, raised: 0 });
  const id = /"record":{"id":"(\w+)"/.exec(exported)?.[1] ?? '';
  t.match((await run('keys', 'history', id)).stdout, /cli:\S+ +imported +plan: free, name: old/);
  t.match((await run('keys', 'export', id)).stdout, /"usage":\[\]/);
});

t.test(
  'one invalid line among many: exit code 1, it is named on a line of its own; of a file nothing is imported',
  async (t) => {
    const { folder, env, run } = await operator(t, {}, { acceptImported: true });
    const lines = fileOf(1_200).split('\n');
    lines[700] = '{"hash":"abc","plan":"por","name":"x"}';
    const file = join(folder, 'bad.jsonl');
    writeFileSync(file, lines.join('\n'));
    const { code, stdout, stderr } = await run('keys', 'import', file);
    t.same([code, stdout], [1, '']);
    t.same(
      stderr
        .trim()
        .split('\n')
        .map((line) => line.split(':')[0]),
      ['error', 'line 701', 'line 701'],
    );
    t.match(stderr, 'Nothing was imported');
    t.match((await run('keys', 'list')).stdout, 'No keys.');
    const piped = await command(['keys', 'import', '-'], env, lines.join('\n'));
    t.match(piped, { code: 1, stdout: '', stderr: /1199 keys were imported, 0 were here already; [^\n]*\nline 701:/ });
  },
);

t.test('a file that is not there, and one that cannot be written, are told in a clear line', async (t) => {
  const { folder, run } = await operator(t, {}, { acceptImported: true });
  t.match(await run('keys', 'import', join(folder, 'nothing')), {
    code: 1,
    stderr: /nothing can't be read \(ENOENT\)/,
  });
  t.match(await run('keys', 'import', folder), { code: 1, stderr: /can't be read \(EISDIR\)/ });
  const full = join(folder, 'full');
  symlinkSync('/dev/full', `${full}.part`);
  t.match(await run('store', 'export', '--out', full), { code: 1, stderr: /full can't be written \(ENOSPC\)/ });
  t.notOk(existsSync(full), 'on a full disk nothing looks complete');
  t.match(await run('store', 'export', '--out', join(folder, 'no/where')), {
    code: 1,
    stderr: /can't be written \(ENOENT\)/,
  });
  t.match(await run('keys', 'import'), { code: 2, stderr: /missing required argument/ });
  t.match(await run('keys', 'import', '--help'), { code: 0, stdout: /One key per line/ });
  t.match(await run('keys', 'export', 'nobody', '--output', join(folder, 'x')), { code: 1, stderr: /no key/ });
  t.same(
    readdirSync(folder).filter((name) => name.includes('x')),
    [],
    'nothing half written is left',
  );
});
