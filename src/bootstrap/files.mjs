import { createHash } from 'node:crypto';
import { accessSync, existsSync, constants as modes, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SetupFailure } from './terminal.mjs';

/** The project's folder. */
export const root = fileURLToPath(new URL('../../', import.meta.url));
export const at = (...parts) => join(root, ...parts);

/** Returns the error code if this user may not write in `folder`; undefined if they may. */
export function writeError(folder) {
  try {
    accessSync(folder, modes.W_OK);
    return undefined;
  } catch ({ code }) {
    return code;
  }
}

/** Throws SetupFailure if this user may not write in `folder`, or may not create it if it is missing. */
export function requireWritable(folder, purpose) {
  const there = existsSync(folder) ? folder : root;
  const code = writeError(there);
  if (code !== undefined) {
    throw new SetupFailure(
      `${there} may not be written by this user (${code}), and ${purpose} in it. Run npm start once as a user ` +
        'who may; after that any user who may read it can.',
    );
  }
}

export function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort();
}

/** Returns a hash of the files' names and contents. */
export function sha256(files) {
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  return hash.digest('hex');
}

export function readIf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
