import { spawn } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../../src/shared/package-root.js';
import { InvalidSecret, readOrCreateSecret, readSecret } from '../../../src/shared/files/secret-file.js';
import { temporaryFolder } from '../../servers/program.js';

t.test('a secret is made once, kept, and readable by its owner alone', (t) => {
  const folder = join(temporaryFolder(t), 'not', 'there', 'yet');
  const secret = readOrCreateSecret(folder, 'token');
  t.match(secret, /^[\w-]{43}$/);
  t.equal(readOrCreateSecret(folder, 'token'), secret);
  t.equal(statSync(join(folder, 'token')).mode & 0o777, 0o600);
  t.strictSame(readdirSync(folder), ['token'], 'no draft is left');
  t.end();
});

t.test('processes that start together agree on it', async (t) => {
  const folder = temporaryFolder(t);
  const script =
    'const { readOrCreateSecret } = await ' +
    `import(${JSON.stringify(join(packageRoot, 'dist/src/shared/files/secret-file.js'))}); ` +
    `process.stdout.write(readOrCreateSecret(${JSON.stringify(folder)}, 'token'));`;
  const run = (): Promise<string> =>
    new Promise((resolve) => {
      let output = '';
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      child.on('close', () => resolve(output));
    });
  const secrets = await Promise.all(Array.from({ length: 8 }, run));
  t.equal(new Set(secrets).size, 1, 'one secret');
  t.equal(secrets[0]?.length, 43, 'and a whole one');
});

t.test('an empty variable is not set, and a secret that can be guessed is refused, without being told', (t) => {
  const folder = temporaryFolder(t);
  const read = (value: string): string => readSecret({ TOKEN: value }, 'TOKEN', folder, 'token');
  const made = read('');
  t.match(made, /^[\w-]{43}$/);
  t.equal(read(' \n'), made);
  t.equal(read('sixteen-letters!\n'), 'sixteen-letters!');
  for (const value of ['fifteen-letters', '\u00a0', 'sixteen letters!', '\u00a0'.repeat(20)]) {
    t.throws(() => read(value), InvalidSecret, JSON.stringify(value));
    t.throws(() => read(value), { message: /^TOKEN must/ });
  }
  for (const text of ['', '\n', 'short\n', '\u00a0\n']) {
    writeFileSync(join(folder, 'token'), text);
    t.throws(
      () => read(''),
      { message: /^the file token in .* Remove it and start again, or set TOKEN\.$/ },
      JSON.stringify(text),
    );
  }
  t.throws(() => read('fifteen-letters'), { message: /^(?!.*fifteen)/ });
  t.end();
});
