import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files of a root file system: path from the root → size in bytes, owner, mode and time of the last change. */
export function filesIn(root) {
  const files = new Map();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    const { size, uid, mode, mtimeMs } = lstatSync(path);
    files.set(path.slice(root.length), { size, uid, mode, mtimeMs });
  }
  return files;
}

export const bytesOf = (files) => [...files.values()].reduce((sum, { size }) => sum + size, 0);

/** Paths in either that are not the same in both. */
export function differing(one, other) {
  return [...new Set([...one.keys(), ...other.keys()])].filter(
    (path) => JSON.stringify(one.get(path)) !== JSON.stringify(other.get(path)),
  );
}

/** Of the packages that the lock names: those missing that production needs, and those there that it does not. */
export function packagesOf(lock, files) {
  const packages = Object.entries(lock.packages).filter(([path]) => path !== '');
  const isThere = ([path]) => files.has(`/app/${path}/package.json`);
  const isNeeded = ([, { dev, devOptional, optional }]) => !dev && !devOptional && !optional;
  return {
    missing: packages.filter((each) => isNeeded(each) && !isThere(each)).map(([path]) => path),
    needless: packages.filter((each) => each[1].dev === true && isThere(each)).map(([path]) => path),
  };
}

/** Those of `paths` whose content has `secret`. */
export function holding(root, paths, secret) {
  return paths.filter(
    (path) => lstatSync(join(root, path)).isFile() && readFileSync(join(root, path)).includes(secret),
  );
}
