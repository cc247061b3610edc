import { resolve } from 'node:path';
import { misspelt, readVariable } from '../shared/names/variables.js';
import { BadSecret, readSecret } from '../shared/secret-file.js';

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

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];

/** The settings of pets from the environment; an empty variable counts as not set. Throws StartFailure with all mistakes at once. */
export function readConfig(environment: NodeJS.ProcessEnv): PetsConfig {
  const mistakes = misspelt(environment).map(({ name, message }) => `environment variable ${name}: ${message}`);
  const setting = (name: string): string | undefined => readVariable(environment, name) || undefined;
  const check = (holds: boolean, mistake: string): void => {
    if (!holds) mistakes.push(mistake);
  };

  const port = setting('PETS_PORT') ?? '8081';
  check(/^[0-9]{1,5}$/.test(port) && Number(port) <= 65_535, 'PETS_PORT must be a number from 0 to 65535');
  const logLevel = setting('LOG_LEVEL') ?? 'info';
  check(LOG_LEVELS.includes(logLevel), `LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}`);
  const databaseUrl = setting('DATABASE_URL') ?? null;
  check(
    databaseUrl === null || isPostgresUrl(databaseUrl),
    'DATABASE_URL must look like postgres://user:password@host:5432/database',
  );
  const dataFolder = resolve(setting('PETGATE_DATA') ?? 'data');
  const internalToken = tokenIn(environment, dataFolder, mistakes);
  if (mistakes.length > 0) throw new StartFailure(mistakes.join('; '));

  const host = setting('PETS_HOST') ?? '127.0.0.1';
  return { host, port: Number(port), dataFolder, databaseUrl, internalToken, logLevel };
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
      error instanceof BadSecret
        ? reason
        : `cannot keep the internal token in ${dataFolder} (${reason}): make PETGATE_DATA a folder that can be written to, or set PETGATE_INTERNAL_TOKEN`,
    );
    return '';
  }
}
