import { misspelt, readVariable } from '../../../shared/names/variables.js';
import type { SourceLocation, Problem } from './problem.js';
import type { Path } from './yaml-file.js';

/** A variable that overrides the files. `read` converts its text to the form that a file would have. */
interface Variable {
  readonly name: string;
  readonly path: Path;
  readonly read: (text: string) => unknown;
}

const asText = (text: string): unknown => text;
/** Leaves anything but a whole number as text, so that the schema reports what would be right. */
const asNumber = (text: string): unknown => (/^[0-9]{1,15}$/.test(text) ? Number(text) : text);
const asFlag = (text: string): unknown => (text === 'true' ? true : text === 'false' ? false : text);
const asList = (text: string): unknown => text.split(',').map((part) => part.trim());

/**
 * Without PETGATE_CONFIG, which is read before any file. PETGATE_DATA is relative to the working directory, so `load`
 * resolves it.
 */
const VARIABLES: readonly Variable[] = [
  { name: 'PORT', path: ['listen', 'port'], read: asNumber },
  { name: 'HOST', path: ['listen', 'host'], read: asText },
  { name: 'PETGATE_TLS_CERT', path: ['tls', 'cert'], read: asText },
  { name: 'PETGATE_TLS_KEY', path: ['tls', 'key'], read: asText },
  { name: 'ADMIN_PORT', path: ['admin', 'port'], read: asNumber },
  { name: 'ADMIN_HOST', path: ['admin', 'host'], read: asText },
  { name: 'PETGATE_DATA', path: ['data'], read: asText },
  { name: 'PETGATE_CONTRACT', path: ['contract'], read: asText },
  { name: 'REDIS_URL', path: ['store', 'redis'], read: asText },
  { name: 'LEDGER_URL', path: ['store', 'archive'], read: asText },
  { name: 'PETS_URL', path: ['upstreams', 'pets', 'addresses'], read: asList },
  { name: 'UPSTREAM_URL', path: ['upstreams', 'default', 'addresses'], read: asList },
  { name: 'STORE_URL', path: ['upstreams', 'store', 'addresses'], read: asList },
  { name: 'PETGATE_WORKERS', path: ['workers'], read: asNumber },
  { name: 'PETGATE_EVENTS_URL', path: ['events', 'url'], read: asText },
  { name: 'PETGATE_EVENTS_ALLOW_LOCAL', path: ['events', 'allow_local'], read: asFlag },
  { name: 'LOG_LEVEL', path: ['log', 'level'], read: asText },
  { name: 'LOG_ACCESS', path: ['log', 'access'], read: asFlag },
];

/** Returns the variables that are set, with their values. An empty one counts as not set. */
export function readEnvironment(
  environment: NodeJS.ProcessEnv,
): readonly { name: string; path: Path; value: unknown }[] {
  return VARIABLES.flatMap(({ name, path, read }) => {
    const text = readVariable(environment, name);
    return text === '' ? [] : [{ name, path, value: read(text) }];
  });
}

/** Returns a problem for each unknown variable that is most likely a typo of a known one. */
export function misspeltVariables(environment: NodeJS.ProcessEnv): readonly Problem[] {
  return misspelt(environment).map(({ name, message }) => ({ ...locationOf(name), path: '', message }));
}

export function locationOf(variable: string): SourceLocation {
  return { file: `environment variable ${variable}`, line: 0, column: 0 };
}
