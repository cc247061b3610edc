import { join } from 'node:path';
import { locationOf } from '../../gateway/config/files/environment.js';
import { ConfigError } from '../../gateway/config/files/problem.js';
import { loadSettings } from '../../gateway/config/load.js';
import type { Settings } from '../../gateway/config/schema/gateway.js';
import { packageRoot } from '../../shared/package-root.js';
import { readVariable } from '../../shared/names/variables.js';
import { CommandError } from '../terminal/command-error.js';

/** Options that override the variables. */
export interface StartOptions {
  readonly upstream?: string;
  readonly contract?: string;
}

/** What is started: the gateway, with pets behind it or in front of another API. */
export interface Plan {
  readonly environment: NodeJS.ProcessEnv;
  readonly settings: Settings;
  /** Addresses of the other API; null for pets. */
  readonly upstream: string | null;
}

/**
 * Plans what to start: another API if there is an upstream address, or a contract with an upstream of its own; else
 * pets. Another API without a contract has every path forwarded.
 */
export function planStart(surroundings: NodeJS.ProcessEnv, { upstream, contract }: StartOptions): Plan {
  const given: NodeJS.ProcessEnv = {
    ...surroundings,
    ...(upstream === undefined ? {} : { UPSTREAM_URL: withScheme(upstream) }),
    ...(contract === undefined ? {} : { PETGATE_CONTRACT: contract }),
  };
  const settings = loadFor(given, upstream !== undefined);
  const isOurs = settings.contract === join(packageRoot, 'config/openapi.yaml');
  const { default: other } = settings.upstreams;
  if (contract !== undefined && other === undefined)
    throw new CommandError('Say where the API of this contract is, such as --upstream http://localhost:3000');
  if (other === undefined || (isOurs && readVariable(given, 'UPSTREAM_URL') === ''))
    return { environment: given, settings, upstream: null };
  const environment = {
    ...given,
    ...(isOurs && readVariable(given, 'PETGATE_CONTRACT') === '' ? { PETGATE_CONTRACT: 'none' } : {}),
  };
  return { environment, settings: loadSettings(environment), upstream: other.addresses.join(', ') };
}

/** `localhost:3000` means http. */
function withScheme(upstream: string): string {
  return /^[A-Za-z0-9.-]+:\d+(?:\/|$)/.test(upstream) ? `http://${upstream}` : upstream;
}

/** Problems name the option `--upstream`, not the variable that it sets. */
function loadFor(environment: NodeJS.ProcessEnv, byFlag: boolean): Settings {
  try {
    return loadSettings(environment);
  } catch (error) {
    if (!byFlag || !(error instanceof ConfigError)) throw error;
    const { file: variable } = locationOf('UPSTREAM_URL');
    const problems = error.problems.map((each) => (each.file === variable ? { ...each, file: '--upstream' } : each));
    throw new ConfigError(problems, error.files);
  }
}
