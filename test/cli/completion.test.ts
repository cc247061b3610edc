import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { dataFolder, petgate, surroundings } from './programs.js';

t.test('bash completes commands and options from the printed script', async (t) => {
  const folder = dataFolder(t);
  const { code, stdout } = await petgate(['completion', 'bash'], surroundings(folder));
  t.equal(code, 0);
  const script = join(folder, 'completion.sh');
  writeFileSync(script, stdout);
  const complete = (...words: string[]): string[] => {
    const program =
      `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); ` + `_petgate; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return spawnSync('bash', ['-c', program, script, ...words], { encoding: 'utf8' })
      .stdout.trim()
      .split('\n');
  };
  t.strictSame(complete('petgate', 'ke'), ['keys']);
  t.strictSame(complete('petgate', 'keys', 'rev'), ['revoke']);
  t.ok(complete('petgate', 'keys', 'create', '--').includes('--plan'));
  t.strictSame(complete('petgate', 'nonsense', 'x'), [''], 'nothing for what is not there');
});

t.test('the zsh script announces itself to compinit', async (t) => {
  t.match((await petgate(['completion', 'zsh'], surroundings(dataFolder(t)))).stdout, /^#compdef petgate\n/);
});
