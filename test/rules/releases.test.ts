import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';

const textOf = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');
const { version } = JSON.parse(textOf('package.json')) as { readonly version: string };
const SUBJECT_CHARACTERS = 72;

t.test('the version has its section in the changelog, and the images carry it', (t) => {
  t.match(textOf('CHANGELOG.md'), new RegExp(`^## \\[${version}\\] - \\d{4}-\\d\\d-\\d\\d$`, 'm'));
  for (const path of ['compose.yaml', 'config/kubernetes/petgate.yaml']) {
    const tags = [...textOf(path).matchAll(/image: petgate-\w+:(\S+)/g)].map(([, tag]) => tag);
    t.ok(tags.length > 0, path);
    t.strictSame([...new Set(tags)], [version], path);
  }
  t.end();
});

t.test('the latest commits have subjects that fit into a line', (t) => {
  if (existsSync(join(packageRoot, '.git'))) {
    const { stdout } = spawnSync('git', ['log', '--no-merges', '-5', '--format=%s'], {
      cwd: packageRoot,
      encoding: 'utf8',
    });
    t.strictSame(
      stdout.split('\n').filter((subject) => subject.length > SUBJECT_CHARACTERS),
      [],
    );
  }
  t.end();
});
