import { join } from 'node:path';
import { loadSources } from '../../gateway/config/load.js';
import type { Settings } from '../../gateway/config/settings.js';
import { readVariable } from '../../shared/names/variables.js';
import { packageRoot } from '../../shared/package-root.js';
import { exitWithParent } from '../../shared/exit.js';
import { dialed, findAdmin } from '../admin-address.js';
import { AdminClient } from '../client.js';
import { CommandError } from '../command-error.js';
import { say, styled } from '../output.js';
import { Child } from './child.js';
import { claimPort } from './ports.js';
import { welcome } from './welcome.js';

const PETS_HOST = '127.0.0.1';
const PETS_PORT = '8081';
/** What a child gets beyond the gateway's own deadline for finishing what is in flight. */
const EXTRA_GRACE_MS = 3_000;
/** One Ctrl-C arrives more than once: from the terminal and again through npm. */
const SAME_SIGNAL_MS = 1_000;

interface Addresses {
  readonly gateway: string;
  readonly admin: string;
  readonly pets: string;
}

/** Runs gateway and pets as two processes until a signal, or the end of whoever started this. Gives the exit code. */
export async function start(environment: NodeJS.ProcessEnv): Promise<number> {
  const { settings } = loadSources(environment);
  const { childEnvironment, addresses } = await prepare(settings, environment);
  const program = join(packageRoot, 'dist/src/cli/main.js');
  const pets = new Child('pets', [program, 'pets'], childEnvironment, new URL('/readyz', addresses.pets));
  const gateway = new Child('gateway', [program, 'gateway'], childEnvironment, new URL('/readyz', addresses.admin));
  const stopped = stopOnSignal(gateway, pets, settings.drainMs + settings.shutdownMs + EXTRA_GRACE_MS);
  try {
    await Promise.all([begin(pets, addresses.pets), begin(gateway, addresses.gateway)]);
    await greet(childEnvironment, addresses.gateway, assignmentsFor(environment, childEnvironment));
    say(`\nMetrics and admin API: ${addresses.admin}  Docs: ${addresses.gateway}/docs\nCtrl-C stops.`);
  } catch (error) {
    if (stopped.began()) return await stopped.done;
    await Promise.all([gateway.stop(EXTRA_GRACE_MS), pets.stop(EXTRA_GRACE_MS)]);
    throw error;
  }
  return stopped.done;
}

/** A store that is unavailable keeps the gateway from making keys, not from serving: no reason to stop. */
async function greet(childEnvironment: NodeJS.ProcessEnv, publicUrl: string, assignments: string): Promise<void> {
  try {
    await welcome(new AdminClient(await findAdmin(childEnvironment, undefined)), publicUrl, assignments);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    say(`\nNo key was made: ${error.message}`);
  }
}

async function begin(child: Child, address: string): Promise<void> {
  const beganMs = performance.now();
  await child.start();
  say(
    `${styled('green', 'ready')}  ${child.name.padEnd(7)}  ${address}  ` +
      styled('dim', `(${((performance.now() - beganMs) / 1000).toFixed(1)} s)`),
  );
}

/** Claims the three ports and writes into the children's environment what both must agree on. */
async function prepare(
  settings: Settings,
  environment: NodeJS.ProcessEnv,
): Promise<{ childEnvironment: NodeJS.ProcessEnv; addresses: Addresses }> {
  const petsHost = readVariable(environment, 'PETS_HOST') || PETS_HOST;
  const port = await claimPort({ ...settings.listen, purpose: "the gateway's public side", variable: 'PORT' });
  const adminPort = await claimPort({ ...settings.admin, purpose: "the gateway's admin side", variable: 'ADMIN_PORT' });
  const petsPort = await claimPort({
    host: petsHost,
    port: petsPortOf(environment),
    purpose: 'the pets service',
    variable: 'PETS_PORT',
  });
  const addresses = {
    gateway: `${settings.tls === null ? 'http' : 'https'}://${dialed(settings.listen.host)}:${port}`,
    admin: `http://${dialed(settings.admin.host)}:${adminPort}`,
    pets: `http://${dialed(petsHost)}:${petsPort}`,
  };
  const shared = {
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    PETS_HOST: petsHost,
    PETS_PORT: String(petsPort),
    PETGATE_DATA: settings.dataFolder,
  };
  const defaults = {
    PETS_URL: readVariable(environment, 'PETS_URL') || addresses.pets,
    ...logDefaults(settings, environment),
  };
  return { childEnvironment: { ...environment, ...shared, ...defaults }, addresses };
}

/** People get a line per request, and warnings; who sets the level gets the log as production writes it. */
function logDefaults(
  { environment: name, log }: Settings,
  environment: NodeJS.ProcessEnv,
): Readonly<Record<string, string>> {
  if (readVariable(environment, 'LOG_LEVEL') !== '') return {};
  const isForPeople = name === 'development' && log.access === true && readVariable(environment, 'LOG_ACCESS') === '';
  return { LOG_LEVEL: 'warn', ...(isForPeople ? { LOG_ACCESS: 'text' } : {}) };
}

/** The variables of this terminal that a command in another one needs, as a shell sets them for it. */
function assignmentsFor(environment: NodeJS.ProcessEnv, childEnvironment: NodeJS.ProcessEnv): string {
  return ['PETGATE_CONFIG', 'PETGATE_DATA', 'ADMIN_HOST', 'ADMIN_PORT']
    .filter((name) => readVariable(environment, name) !== '')
    .map((name) => `${name}=${quoted(childEnvironment[name]!)} `)
    .join('');
}

function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function petsPortOf(environment: NodeJS.ProcessEnv): number {
  const text = readVariable(environment, 'PETS_PORT') || PETS_PORT;
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new CommandError('PETS_PORT must be a port: a whole number from 0 to 65535.');
  return port;
}

interface Stop {
  readonly began: () => boolean;
  /** The exit code, once both programs have ended. */
  readonly done: Promise<number>;
}

/** The first signal stops gateway, then pets, so that what is in flight is still answered; the next one kills both. */
function stopOnSignal(gateway: Child, pets: Child, graceMs: number): Stop {
  let beganMs: number | undefined;
  let finish: (code: number) => void;
  const done = new Promise<number>((resolve) => (finish = resolve));
  const stopBoth = async (): Promise<void> => {
    await gateway.stop(graceMs);
    await pets.stop(graceMs);
    finish(0);
  };
  const onSignal = (): void => {
    const nowMs = Date.now();
    if (beganMs === undefined) {
      beganMs = nowMs;
      say('\nStopping; Ctrl-C again kills at once.');
      void stopBoth();
    } else if (nowMs - beganMs > SAME_SIGNAL_MS) {
      gateway.kill();
      pets.kill();
      process.exit(130);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  exitWithParent(onSignal);
  return { began: () => beganMs !== undefined, done };
}
