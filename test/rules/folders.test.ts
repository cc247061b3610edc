import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';
import { filesIn } from './source-files.js';

const RULES = readFileSync(join(packageRoot, '.dependency-cruiser.cjs'), 'utf8');
const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

t.test('a folder that does not import the files above is not on the list of those that do', (t) => {
  const listed = [.../const UPPER = \[(.*?)\];/s.exec(RULES)![1]!.matchAll(/'(.*?)'/g)].map(
    ([, name]) => `src/${name!}`,
  );
  const imports = filesIn('src').flatMap(({ path, text }) =>
    [...text.matchAll(IMPORT)].map(([, name = '']) => [dirname(path), dirname(join(dirname(path), name))] as const),
  );
  const isBelow = (one: string, folder: string): boolean => one === folder || one.startsWith(`${folder}/`);
  for (const folder of listed)
    t.ok(
      imports.some(([from, to]) => isBelow(from, folder) && to === dirname(folder)),
      `${folder} imports files above it`,
    );
  t.end();
});
