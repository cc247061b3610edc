import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { packageRoot } from '../../../src/shared/package-root.js';
import { ELSEWHERE } from './elsewhere.js';
import { examplesOf, missingIn } from './examples.js';
import { openPlace, PRICED, SETTINGS, type Names } from './place.js';

const run = promisify(execFile);
const FOLDER = join(packageRoot, 'docs/guides');
const guides = readdirSync(FOLDER).map((file) => file.replace(/\.md$/, ''));
const pageOf = (guide: string): string => readFileSync(join(FOLDER, `${guide}.md`), 'utf8');

function isElsewhere(guide: string, command: string): boolean {
  return (ELSEWHERE[guide] ?? []).some(([pattern]) => pattern.test(command));
}

/** From now on the id that a page shows stands for the one that was made. */
function learn(names: Names, shown: readonly string[], output: string): void {
  const idIn = (lines: readonly string[]): string | undefined =>
    lines.map((line) => /^id +(\S+)$/.exec(line)?.[1]).find((id) => id !== undefined);
  const [name, own] = [idIn(shown), idIn(output.split('\n'))];
  if (name !== undefined && own !== undefined) names[name] = own;
}

t.test('every command of a guide is run here, or it is said where', (t) => {
  for (const guide of guides) {
    const commands = examplesOf(pageOf(guide)).map(({ command }) => command);
    const here = commands.filter((command) => !isElsewhere(guide, command));
    t.ok(here.length === 0 || SETTINGS[guide] !== undefined, guide, { here });
    for (const [pattern, why] of ELSEWHERE[guide] ?? []) {
      const [named = 'test'] = /test\/\S+/.exec(why) ?? [];
      t.ok(existsSync(join(packageRoot, named)), why);
      t.ok(
        commands.some((command) => pattern.test(command)),
        `${guide}: ${why}`,
      );
    }
  }
  t.strictSame(
    [...Object.keys(ELSEWHERE), ...Object.keys(SETTINGS)].filter((guide) => !guides.includes(guide)),
    [],
  );
  t.end();
});

t.test('what the guides show is what an operator sees', async (t) => {
  const [priced, unpriced] = await Promise.all([openPlace(t, true), openPlace(t, false)]);
  for (const guide of Object.keys(SETTINGS)) {
    const place = PRICED.includes(guide) ? priced : unpriced;
    const { gateway, environment, folder } = place;
    const names: Names = {
      'http://localhost:8080': gateway.url,
      'cli:zoe': `cli:${userInfo().username}`,
      ...(await SETTINGS[guide]!(place)),
    };
    const said = (text: string, all = Object.entries(names)): string =>
      all.reduce((here, [name, own]) => here.replaceAll(name, own), text);
    // An id of a page has a digit, for which any word will do; that of here may have none.
    const expected = (line: string): string =>
      said(
        line,
        Object.entries(names).filter(([name]) => !/\d/.test(name)),
      );
    for (const { command, shown } of examplesOf(pageOf(guide))) {
      if (isElsewhere(guide, command)) continue;
      const { stdout, stderr } = await run('bash', ['-c', said(command)], { env: environment, cwd: folder }).catch(
        (error: unknown) => ({ stdout: '', stderr: String(error) }),
      );
      t.equal(stderr, '', `${guide}: ${command}`);
      t.strictSame(missingIn(stdout, shown.map(expected)), [], `${guide}: ${command}`, { stdout });
      learn(names, shown, stdout);
    }
  }
});
