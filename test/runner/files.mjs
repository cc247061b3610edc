import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The built test files, in the order of their names. */
export function testFiles() {
  const names = readdirSync('dist/test', { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.test.js')).sort().map((name) => join('dist/test', name));
}
