import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Fewer characters can be guessed. */
const LEAST_CHARACTERS = 16;
const DRAFT_BYTES = 6;

/** A secret that would let in too many. The message says what to do, and nothing of the secret. */
export class InvalidSecret extends Error {
  override readonly name = 'InvalidSecret';
}

/**
 * The secret of the variable `variable`, else of the file `folder/file`, which is made when it isn't there. An
 * empty variable counts as not set. Blanks of ASCII around a secret are dropped, and no others: what is left must
 * be 16 visible ASCII characters or more.
 * @throws InvalidSecret
 */
export function readSecret(environment: NodeJS.ProcessEnv, variable: string, folder: string, file: string): string {
  return findSecret(environment, variable, folder, file) ?? readOrCreateSecret(folder, file);
}

/** The secret that `readSecret` would find; null where it would make one. @throws InvalidSecret */
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

/** The secret of the variable alone; null where it is not set. @throws InvalidSecret */
export function givenSecret(environment: NodeJS.ProcessEnv, variable: string): string | null {
  const given = trimmed(environment[variable] ?? '');
  if (given === '') return null;
  return checked(given, variable, 'Set one such as the output of "openssl rand -hex 32", or leave it out.');
}

/** What stands in the file `folder/file` instead of in the variable; null where there is none. @throws InvalidSecret */
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

/** Made on first use with mode 600, whole under its name: two processes that start together agree. */
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

/** Not `trim`, which takes a no-break space for a blank. */
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
  // In containers that share a folder, all may be process 1.
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

/** On disk before it has its name: a power cut must not leave an empty file, which would be an empty secret. */
function writeSynced(path: string, text: string): void {
  const descriptor = openSync(path, 'wx', 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
