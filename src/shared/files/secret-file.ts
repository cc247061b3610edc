import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A shorter secret could be guessed. */
const LEAST_CHARACTERS = 16;
const DRAFT_BYTES = 6;

/** A secret that is unreadable, malformed or too short. The message says what to do, and never shows the secret. */
export class InvalidSecret extends Error {
  override readonly name = 'InvalidSecret';
}

/**
 * Returns the secret in the variable `variable`, else in the file `folder/file`, which is created if missing. An empty
 * variable counts as not set. Only ASCII whitespace around a secret is trimmed: the rest must be at least 16 visible
 * ASCII characters.
 * @throws InvalidSecret
 */
export function readSecret(environment: NodeJS.ProcessEnv, variable: string, folder: string, file: string): string {
  return findSecret(environment, variable, folder, file) ?? readOrCreateSecret(folder, file);
}

/** Returns the secret that `readSecret` would find; null if it would create one. @throws InvalidSecret */
export function findSecret(
  environment: NodeJS.ProcessEnv,
  variable: string,
  folder: string,
  file: string,
): string | null {
  const given = givenSecret(environment, variable);
  if (given !== null) return given;
  const kept = readSecretFile(folder, file, variable);
  if (kept === null) return null;
  return checked(kept, `the file ${file} in ${folder}`, `Remove it and start again, or set ${variable}.`);
}

/** Returns the secret in the variable only; null if it is not set. @throws InvalidSecret */
export function givenSecret(environment: NodeJS.ProcessEnv, variable: string): string | null {
  const given = trimmed(environment[variable] ?? '');
  if (given === '') return null;
  return checked(given, variable, 'Set one such as the output of "openssl rand -hex 32", or leave it out.');
}

/**
 * Returns the content of the file `folder/file`, which replaces an unset variable; null if missing. @throws
 * InvalidSecret
 */
export function readSecretFile(folder: string, file: string, variable: string): string | null {
  try {
    return read(join(folder, file));
  } catch (error) {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    throw new InvalidSecret(
      `the file ${file} in ${folder} can't be read (${code}). Make it, and the folder (PETGATE_DATA), ` +
        `readable for the user that runs this, or set ${variable}.`,
    );
  }
}

/**
 * Returns the secret in a file, which is created on first use with mode 600. The file gets its name only when it is
 * complete: two processes that start together get the same secret.
 */
export function readOrCreateSecret(folder: string, name: string): string {
  const path = join(folder, name);
  return read(path) ?? create(folder, path);
}

function checked(secret: string, what: string, advice: string): string {
  const complaint =
    secret === ''
      ? 'is empty'
      : !/^[\x21-\x7e]+$/.test(secret)
        ? 'must be visible ASCII characters without spaces'
        : secret.length < LEAST_CHARACTERS
          ? `must have ${LEAST_CHARACTERS} characters or more`
          : undefined;
  if (complaint !== undefined) throw new InvalidSecret(`${what} ${complaint}. ${advice}`);
  return secret;
}

/** Trims only ASCII whitespace: `trim` would also remove a no-break space. */
function trimmed(text: string): string {
  return text.replace(/^[ \t\r\n]+|(?<![ \t\r\n])[ \t\r\n]+$/g, '');
}

function read(path: string): string | null {
  try {
    return trimmed(readFileSync(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function create(folder: string, path: string): string {
  mkdirSync(folder, { recursive: true });
  // Random, because in containers that share a folder every process may have id 1.
  const draft = `${path}.${randomBytes(DRAFT_BYTES).toString('hex')}`;
  writeSynced(draft, `${randomBytes(32).toString('base64url')}\n`);
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
  return trimmed(readFileSync(path, 'utf8'));
}

/**
 * Writes and syncs the file before it gets its name: a power cut must not leave an empty file, which would be an empty
 * secret.
 */
function writeSynced(path: string, text: string): void {
  const descriptor = openSync(path, 'wx', 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
