import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { packageRoot } from '../../src/shared/package-root.js';

interface SourceFile {
  /** From the package root: `src/gateway/app.ts`. */
  readonly path: string;
  readonly text: string;
}

/** All TypeScript files (and plain modules) below a folder of the package. */
export function filesIn(folder: string): readonly SourceFile[] {
  return readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.d)\.(?:tsx?|mts|mjs)$/.test(name))
    .map((name) => ({ path: join(folder, name), text: readFileSync(join(packageRoot, folder, name), 'utf8') }));
}

/** All Lua scripts of the package. */
export function luaFiles(): readonly SourceFile[] {
  return readdirSync(join(packageRoot, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.lua'))
    .map((name) => ({ path: join('src', name), text: readFileSync(join(packageRoot, 'src', name), 'utf8') }));
}

/**
 * Paths of all files that these files load, directly or through others, types left out. Includes the files themselves.
 */
export function loadedBy(paths: readonly string[]): ReadonlySet<string> {
  const loaded = new Set<string>();
  const queue = [...paths];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (loaded.has(path) || !existsSync(join(packageRoot, path))) continue;
    loaded.add(path);
    queue.push(...importsOf(path));
  }
  return loaded;
}

function importsOf(path: string): readonly string[] {
  const text = readFileSync(join(packageRoot, path), 'utf8');
  const imports = text.matchAll(
    /^(?:import|export)(?! type)[^;]*?from '(\.[^']+)';|\bimport\(\s*'(\.[^']+)'|^import '(\.[^']+)';/gm,
  );
  return [...imports].map(([, from, called, bare]) =>
    sourceOf(normalize(join(dirname(path), from ?? called ?? bare ?? ''))),
  );
}

/** The file that is built to `path`. */
function sourceOf(path: string): string {
  const source = path.replace(/\.js$/, '.ts');
  return existsSync(join(packageRoot, source)) ? source : `${source}x`;
}

/** True when only types are in the file: nothing of it is left to run. */
export function isTypesOnly({ path }: SourceFile): boolean {
  if (!/\.tsx?$/.test(path)) return false;
  const built = readFileSync(join(packageRoot, 'dist', path.replace(/tsx?$/, 'js')), 'utf8');
  return /^\s*(export \{\};)?\s*$/.test(built.replace(/\/\/.*$/gm, '').replace(/\/\*[^]*?\*\//g, ''));
}
