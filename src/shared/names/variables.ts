import { isOneSlip, suggestion } from './nearest.js';

/** Every variable that gateway, pets or the command line reads; docs/reference/settings.md explains them. */
export const VARIABLES: readonly string[] = [
  'ADMIN_HOST',
  'ADMIN_PORT',
  'DATABASE_URL',
  'HOST',
  'LEDGER_URL',
  'LOG_ACCESS',
  'LOG_LEVEL',
  'PETGATE_ADMIN_TOKEN',
  'PETGATE_CONFIG',
  'PETGATE_CONTRACT',
  'PETGATE_DATA',
  'PETGATE_EVENTS_ALLOW_LOCAL',
  'PETGATE_EVENTS_SECRET',
  'PETGATE_EVENTS_URL',
  'PETGATE_INTERNAL_TOKEN',
  'PETGATE_PUSH_TOKEN',
  'PETGATE_TLS_CERT',
  'PETGATE_TLS_KEY',
  'PETGATE_WORKERS',
  'PETS_HOST',
  'PETS_PORT',
  'PETS_URL',
  'PORT',
  'REDIS_URL',
  'STORE_URL',
  'UPSTREAM_URL',
];
const OURS = VARIABLES.filter((name) => name.startsWith('PETGATE_'));

/** A shorter name that is one letter off may well belong to another program. */
const LEAST_LETTERS = 8;
/** Variables that Kubernetes sets in every container for each Service of the namespace. */
const SERVICE_LINK = /_(?:SERVICE_HOST$|SERVICE_PORT(?:_|$)|PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$)/;
const LINKED_PORT = /^(?:tcp|udp|sctp):\/\//;

/**
 * Returns the value of a variable without the ASCII whitespace around it; other characters that look like a space stay,
 * and are a mistake. Empty if it is not set, or if Kubernetes set it for a Service of that name (`PETS_PORT=tcp://…`).
 */
export function readVariable(environment: NodeJS.ProcessEnv, name: string): string {
  const value = environment[name]?.replace(/^[ \t\r\n]+|(?<![ \t\r\n])[ \t\r\n]+$/g, '') ?? '';
  return isServiceLink(name, value) ? '' : value;
}

/**
 * Returns the variables that are most likely typos: unknown ones that begin with PETGATE_, and those one typo away from
 * one that is not set. The intended setting would be silently ignored: with a misspelled REDIS_URL, each gateway would
 * use a store of its own.
 */
export function misspelt(environment: NodeJS.ProcessEnv): readonly { name: string; message: string }[] {
  const unset = VARIABLES.filter((name) => readVariable(environment, name) === '');
  return Object.keys(environment).flatMap((name) => {
    if (VARIABLES.includes(name) || readVariable(environment, name) === '' || isServiceLink(name, '')) return [];
    if (name.startsWith('PETGATE_') && !name.startsWith('PETGATE_TEST_'))
      return [{ name, message: `not known; ${suggestion(name, OURS)}` }];
    const meant = name.length < LEAST_LETTERS ? undefined : unset.find((known) => isOneSlip(name, known));
    return meant === undefined ? [] : [{ name, message: `not known; did you mean "${meant}"?` }];
  });
}

function isServiceLink(name: string, value: string): boolean {
  return SERVICE_LINK.test(name) || (name.endsWith('_PORT') && LINKED_PORT.test(value));
}
