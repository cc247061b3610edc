import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';
import { filesIn } from './source-files.js';

const RULES = readFileSync(join(packageRoot, '.dependency-cruiser.cjs'), 'utf8');
const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

t.test('a folder that no longer imports the files above, or is not imported by them, is off the list', (t) => {
  const listed = [.../const MUTUAL = \[(.*?)\];/s.exec(RULES)![1]!.matchAll(/'(.*?)'/g)].map(
    ([, name]) => `src/${name!}`,
  );
  const imports = filesIn('src').flatMap(({ path, text }) =>
    [...text.matchAll(IMPORT)].map(([, name = '']) => [dirname(path), dirname(join(dirname(path), name))] as const),
  );
  const isBelow = (one: string, folder: string): boolean => one === folder || one.startsWith(`${folder}/`);
  for (const folder of listed) {
    t.ok(
      imports.some(([from, to]) => isBelow(from, folder) && to === dirname(folder)),
      `${folder} imports files above it`,
    );
    t.ok(
      imports.some(([from, to]) => from === dirname(folder) && isBelow(to, folder)),
      `files above ${folder} import it`,
    );
  }
  t.end();
});
