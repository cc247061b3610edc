import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../../../src/shared/package-root.js';
import { openConsole } from '../visitor.js';

const FOLDER = join(packageRoot, 'docs/runbooks');
const NAMES = readdirSync(FOLDER).flatMap((file) => /^(Petgate.*)\.md$/.exec(file)?.[1] ?? []);

t.test('every runbook is a page, with all its words, and links to the others', async (t) => {
  const { get } = await (await openConsole(t)).signedIn();
  for (const name of NAMES) {
    const { status, text } = await get(`/console/runbooks/${name}`);
    t.equal(status, 200, name);
    const shown = wordsOf(
      text
        .replaceAll(/<[^>]+>/g, ' ')
        .replaceAll('&lt;', '<')
        .replaceAll('&amp;', '&'),
    );
    const written = readFileSync(join(FOLDER, `${name}.md`), 'utf8').replaceAll(/\]\([^)]*\)|^```.*/gm, ']');
    t.strictSame(
      [...wordsOf(written)].filter((word) => !shown.has(word)),
      [],
      `${name}: nothing is left out`,
    );
    for (const [, linked = ''] of text.matchAll(/href="\/console\/runbooks\/([^"]+)"/g)) t.ok(NAMES.includes(linked));
    t.notMatch(text, /href="[^"]*\.md/, `${name}: no link leads to a file`);
  }
});

t.test('there is no other file behind that address', async (t) => {
  const { visitor } = await openConsole(t);
  const { get, signIn } = visitor();
  t.match(await get('/console/runbooks/PetgateDown'), { status: 401 });
  await signIn();
  for (const name of ['PetgateNothing', '..%2f..%2fREADME', 'README', '%00', 'Petgate..%2f'])
    t.equal((await get(`/console/runbooks/${name}`)).status, 404, name);
});

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.match(/[A-Za-z_]{3,}/g) ?? []);
}
