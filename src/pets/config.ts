import { resolve } from 'node:path';
import { misspelt, readVariable } from '../shared/names/variables.js';
import { InvalidSecret, readSecret } from '../shared/files/secret-file.js';

export interface PetsConfig {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Absolute path of the folder for the embedded store and a generated token. */
  readonly dataFolder: string;
  /** Null selects the embedded store. Contains a password: must not appear in logs or messages. */
  readonly databaseUrl: string | null;
  readonly internalToken: string;
  readonly logLevel: string;
}

/** The service cannot start; the message says why, in one line. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}

const PORT = '8081';
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];

/** Reads the settings of pets; an empty variable counts as not set. Throws StartFailure with all mistakes. */
export function readConfig(environment: NodeJS.ProcessEnv): PetsConfig {
  const strangers = misspelt(environment).map(({ name, message }) => `environment variable ${name}: ${message}`);
  const mistakes = [...strangers, ...mistakesIn(environment)];
  const setting = (name: string): string | undefined => readVariable(environment, name) || undefined;
  const port = setting('PETS_PORT') ?? PORT;
  const logLevel = setting('LOG_LEVEL') ?? 'info';
  const databaseUrl = setting('DATABASE_URL') ?? null;
  const dataFolder = resolve(setting('PETGATE_DATA') ?? 'data');
  const internalToken = tokenIn(environment, dataFolder, mistakes);
  if (mistakes.length > 0) throw new StartFailure(mistakes.join('; '));

  const host = setting('PETS_HOST') ?? '127.0.0.1';
  return { host, port: Number(port), dataFolder, databaseUrl, internalToken, logLevel };
}

/**
 * Returns what is wrong with the values of pets' variables, one line each. Does not check the token or variable names.
 */
export function mistakesIn(environment: NodeJS.ProcessEnv): readonly string[] {
  const mistakes: string[] = [];
  const check = (name: string, isValid: (value: string) => boolean, mistake: string): void => {
    const value = readVariable(environment, name);
    if (value !== '' && !isValid(value)) mistakes.push(`${name} ${mistake}`);
  };
  const isPort = (text: string): boolean => /^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535;
  check('PETS_PORT', isPort, 'must be a number from 0 to 65535');
  check('LOG_LEVEL', (level) => LOG_LEVELS.includes(level), `must be one of ${LOG_LEVELS.join(', ')}`);
  check('DATABASE_URL', isPostgresUrl, 'must look like postgres://user:password@host:5432/database');
  return mistakes;
}

function isPostgresUrl(text: string): boolean {
  return URL.canParse(text) && ['postgres:', 'postgresql:'].includes(new URL(text).protocol);
}

/** Returns the token that is set, else the one in the data folder, where a gateway on the same folder also finds it. */
function tokenIn(environment: NodeJS.ProcessEnv, dataFolder: string, mistakes: string[]): string {
  try {
    return readSecret(environment, 'PETGATE_INTERNAL_TOKEN', dataFolder, 'internal-token');
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown reason';
    mistakes.push(
      error instanceof InvalidSecret
        ? reason
        : `cannot keep the internal token in ${dataFolder} (${reason}): make PETGATE_DATA a folder that can be ` +
            'written to, or set PETGATE_INTERNAL_TOKEN',
    );
    return '';
  }
}
