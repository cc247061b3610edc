import { resolve } from 'node:path';
import { misspelt, readVariable } from '../shared/names/variables.js';
import { InvalidSecret, readSecret } from '../shared/secret-file.js';

export interface PetsConfig {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Absolute folder of the embedded store and of a token made by ourselves. */
  readonly dataFolder: string;
  /** null: the embedded store. Holds a password: never for a log or message. */
  readonly databaseUrl: string | null;
  readonly internalToken: string;
  readonly logLevel: string;
}

/** What keeps the service from starting, one line for a person. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}

const PORT = '8081';
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];

/** The settings of pets; an empty variable counts as not set. Throws StartFailure with all mistakes at once. */
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

/** What is wrong with the variables of pets, a line each; of the token and of names nothing. */
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

/** As set, else the token that the gateway beside us finds in the same folder. */
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
