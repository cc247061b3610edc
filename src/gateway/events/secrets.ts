import { signingKey } from './signing-key.js';
import { InvalidSecret, readSecretFile } from '../../shared/files/secret-file.js';

const VARIABLE = 'PETGATE_EVENTS_SECRET';
const FILE = 'events-secret';
const MAX_SECRETS = 2;
const ADVICE =
  'It is whsec_ and the base64 of 24 to 64 random bytes, such as the output of: echo "whsec_$(openssl rand ' +
  '-base64 32)"; during a rotation two of them, the new one first.';

/**
 * Reads the keys that sign events, from the variable or else the file in the data folder: one, or two during a
 * rotation, separated by spaces or a comma. Never creates one, because all gateways and the receiver must have the
 * same.
 * @throws InvalidSecret, whose message contains no part of them
 */
export function readEventSecrets(environment: NodeJS.ProcessEnv, dataFolder: string): readonly Buffer[] {
  const given = wordsOf(environment[VARIABLE] ?? '');
  if (given.length > 0) return keysOf(given, VARIABLE);
  const kept = wordsOf(readSecretFile(dataFolder, FILE, VARIABLE) ?? '');
  if (kept.length > 0) return keysOf(kept, `the file ${FILE} in ${dataFolder}`);
  throw new InvalidSecret(
    `Events are sent signed: set ${VARIABLE}, or write the file ${FILE} in ${dataFolder}. ${ADVICE}`,
  );
}

function keysOf(words: readonly string[], what: string): readonly Buffer[] {
  if (words.length > MAX_SECRETS) throw new InvalidSecret(`${what} has more than ${MAX_SECRETS} secrets. ${ADVICE}`);
  return words.map((word) => {
    const key = signingKey(word);
    if (key === undefined) throw new InvalidSecret(`${what} does not contain a valid secret. ${ADVICE}`);
    return key;
  });
}

function wordsOf(text: string): readonly string[] {
  return text.split(/[ \t\r\n,]+/).filter((word) => word !== '');
}
