import type { Settings } from '../config/schema/gateway.js';
import { readEventSecrets } from '../events/secrets.js';
import { InvalidSecret, findSecret, givenSecret, readSecret } from '../../shared/files/secret-file.js';

export interface Secrets {
  /** Identifies the gateway to pets. */
  readonly internalToken: string;
  /** Allows everything on the admin API. */
  readonly adminToken: string;
  /** Keys that sign events; none without events. */
  readonly eventKeys: readonly Buffer[];
}

type SecretSettings = Pick<Settings, 'data' | 'events'>;

const INVALID = ['InvalidSecret'];
const INTERNAL = 'PETGATE_INTERNAL_TOKEN';
const ADMIN = 'PETGATE_ADMIN_TOKEN';
const SAME =
  `${ADMIN} and ${INTERNAL} are the same, so pets, and anyone who can read its environment, could do everything ` +
  'with the admin API. Set one of them to another value, such as the output of "openssl rand -hex 32".';

/**
 * Returns the secrets from the environment, or else from the data folder; creates a token that is in neither.
 * @throws InvalidSecret with one line for each problem, and no part of a secret
 */
export function readSecrets(environment: NodeJS.ProcessEnv, asked: SecretSettings): Secrets {
  return gather(environment, asked, readSecret);
}

/** Like `readSecrets`, but creates nothing. Without settings (null), reads only the environment. */
export function checkSecrets(environment: NodeJS.ProcessEnv, asked: SecretSettings | null): void {
  if (asked === null) gather(environment, { data: '', events: undefined }, givenSecret);
  else gather(environment, asked, findSecret);
}

function gather<Token extends string | null>(
  environment: NodeJS.ProcessEnv,
  { data, events }: SecretSettings,
  tokenOf: (environment: NodeJS.ProcessEnv, variable: string, folder: string, file: string) => Token,
): { readonly internalToken: Token; readonly adminToken: Token; readonly eventKeys: readonly Buffer[] } {
  const problems: string[] = [];
  const internalToken = collect(problems, INVALID, () => tokenOf(environment, INTERNAL, data, 'internal-token'));
  const adminToken = collect(problems, INVALID, () => tokenOf(environment, ADMIN, data, 'admin-token'));
  const eventKeys = collect(problems, INVALID, () => (events === undefined ? [] : readEventSecrets(environment, data)));
  if (typeof adminToken === 'string' && adminToken === internalToken) problems.push(SAME);
  if (internalToken === undefined || adminToken === undefined || eventKeys === undefined || problems.length > 0)
    throw new InvalidSecret(problems.join('\n'));
  return { internalToken, adminToken, eventKeys };
}

/**
 * Returns what `read` returns. If it throws an error with one of these names, adds the message to `problems` and
 * returns undefined. Names, not classes: the caller need not load the module that throws.
 */
export function collect<T>(problems: string[], names: readonly string[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error) || !names.includes(error.name)) throw error;
    problems.push(error.message);
    return undefined;
  }
}
