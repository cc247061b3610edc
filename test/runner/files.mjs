import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The built test files. What was built from a source that is gone is removed first: tsc leaves it
 * there, and it would go on passing for ever.
 */
export function testFiles() {
  const built = readdirSync('dist/test', { recursive: true, encoding: 'utf8' });
  const files = [];
  for (const name of built.sort()) {
    const [, stem] = /^(.*?)\.js(\.map)?$/.exec(name) ?? [];
    if (stem === undefined) continue;
    if (!existsSync(join('test', `${stem}.ts`))) rmSync(join('dist/test', name));
    else if (name.endsWith('.test.js')) files.push(join('dist/test', name));
  }
  return files;
}
