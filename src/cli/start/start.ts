import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Settings } from '../../gateway/config/schema/gateway.js';
import { loadContract, type LoadedContract } from '../../gateway/contract/load.js';
import { curlArguments, quoted } from '../../gateway/refusals/credential-location.js';
import { DOCS, OWN_USAGE, ownOperation } from '../../gateway/contract/own.js';
import { readVariable } from '../../shared/names/variables.js';
import { packageRoot } from '../../shared/package-root.js';
import { cell } from '../../shared/text/readable.js';
import { exitWithParent } from '../../shared/exit.js';
import { dialed, findAdmin } from '../admin/address.js';
import { AdminClient, listIn } from '../admin/admin-client.js';
import { CommandError } from '../terminal/command-error.js';
import { say, styled } from '../terminal/output.js';
import { Child } from './child.js';
import { exampleRequest } from '../../gateway/contract/example.js';
import { planStart, type Plan, type StartOptions } from './front.js';
import { claimPorts } from './ports.js';

const PETS_HOST = '127.0.0.1';
const PETS_PORT = '8081';
/** Time for a child to stop, in addition to the gateway's own deadline for requests in flight. */
const EXTRA_GRACE_MS = 3_000;
/** One Ctrl-C arrives more than once: from the terminal and again through npm. */
const SAME_SIGNAL_MS = 1_000;
/** Attempts to create a first key. */
const GREETINGS = 3;
const GREETING_PAUSE_MS = 1_000;

interface Addresses {
  readonly gateway: string;
  readonly admin: string;
  /** Null if pets does not run. */
  readonly pets: string | null;
}

/**
 * Runs gateway and pets, or the gateway in front of another API, until a signal or the end of the parent process.
 * Resolves to the exit code.
 */
export async function start(surroundings: NodeJS.ProcessEnv, options: StartOptions): Promise<number> {
  const plan = planStart(surroundings, options);
  const { settings, environment } = plan;
  const contract = loadContract(settings.contract, settings);
  const { childEnvironment, addresses } = await prepare(plan);
  const program = join(packageRoot, 'dist/program/main.js');
  const child = (name: string, ready: string): Child =>
    new Child(name, [program, name], childEnvironment, new URL('/readyz', ready));
  const gateway = child('gateway', addresses.admin);
  const pets = addresses.pets === null ? [] : [child('pets', addresses.pets)];
  // In the order in which they stop, so that requests in flight still get their response.
  const children = [gateway, ...pets];
  const stopped = stopOnSignal(children, settings.drain + settings.shutdown + EXTRA_GRACE_MS);
  try {
    await Promise.all([...pets.map((each) => begin(each, addresses.pets!)), begin(gateway, addresses.gateway)]);
    const { method, target } = exampleRequest(contract);
    const url = addresses.gateway + target;
    const requestWith = (key: string): string =>
      `${method === 'GET' ? '' : `-X ${method} `}${curlArguments(settings.credentials, url, key, quoted)}`;
    const command = assignmentsFor(environment, childEnvironment) + programName();
    await greet(childEnvironment, (client) => welcome(client, requestWith, command));
    say(whereAll(plan, contract, addresses));
  } catch (error) {
    if (stopped.began()) return await stopped.done;
    await Promise.all(children.map((each) => each.stop(EXTRA_GRACE_MS)));
    throw error;
  }
  return stopped.done;
}

/** Formats the addresses and files to look at. */
function whereAll(
  { upstream, settings }: Plan,
  { routes: { operations }, credentials }: LoadedContract,
  { admin, gateway }: Addresses,
): string {
  const isProposed = credentials.length > 0 && JSON.stringify(credentials) !== JSON.stringify(settings.credentials);
  const docs = ownOperation(operations, DOCS);
  const usage = ownOperation(operations, OWN_USAGE);
  const { contract, data } = settings;
  const what = contract === null ? 'every path is forwarded' : `the operations of ${contract}`;
  const ofFront = [
    `In front of ${upstream}: ${what}`,
    ...(usage === undefined ? [] : [`Usage of a key: ${gateway}${usage.path}`]),
    `Data: ${data}`,
    ...(isProposed
      ? [`The contract sends keys elsewhere. To accept them, set credentials: ${JSON.stringify(credentials)}`]
      : []),
  ];
  return [
    '',
    ...(upstream === null ? [] : ofFront),
    `Console, metrics and admin API: ${admin}${docs === undefined ? '' : `  Docs: ${gateway}${docs.path}`}`,
    'Ctrl-C stops.',
  ].join('\n');
}

/**
 * Tries again, because a store may be unavailable for a moment on a busy machine. Does not stop the gateway, which can
 * serve without it.
 */
async function greet(
  childEnvironment: NodeJS.ProcessEnv,
  greeting: (client: AdminClient) => Promise<void>,
): Promise<void> {
  for (let tries = GREETINGS; ; tries -= 1) {
    try {
      await greeting(new AdminClient(await findAdmin(childEnvironment, undefined)));
      return;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      if (tries === 1) {
        say(`\nNo key was created: ${error.message}`);
        return;
      }
    }
    await pause(GREETING_PAUSE_MS);
  }
}

/**
 * Prints how to make the first request. A store without any key gets one on plan free, shown only once.
 * @param requestWith returns the arguments of `curl -i` that send a key
 * @param program the command for another terminal, with the variables that it needs there
 */
async function welcome(client: AdminClient, requestWith: (key: string) => string, program: string): Promise<void> {
  const another = `Another key:\n  ${program} keys create --plan free --name "My app"`;
  const keys = listIn(await client.ask('GET', '/admin/v1/keys?limit=1'), 'keys');
  if (keys.length > 0) {
    say(`\nThe data of the last start is kept. ${another}`);
    return;
  }
  const made = await client.ask('POST', '/admin/v1/keys', {
    plan: 'free',
    name: 'Demo',
    note: 'created by the first start',
  });
  const key = cell(made['key']);
  say(
    `\nA demo key on plan free, shown only this once:\n  ${styled('bold', key)}\n\nTry it:\n  curl -i ` +
      `${requestWith(key)}\n\n${another}`,
  );
}

async function begin(child: Child, address: string): Promise<void> {
  const beganMs = performance.now();
  await child.start();
  say(
    `${styled('green', 'ready')}  ${child.name.padEnd(7)}  ${address}  ` +
      styled('dim', `(${((performance.now() - beganMs) / 1000).toFixed(1)} s)`),
  );
}

/** Claims the ports, and returns the environment in which all children agree on them. */
async function prepare({ settings, environment, upstream }: Plan) {
  const petsHost = readVariable(environment, 'PETS_HOST') || PETS_HOST;
  const [port, adminPort, petsPort] = await claimPorts([
    { ...settings.listen, purpose: "the gateway's public listener", variable: 'PORT' },
    { ...settings.admin, purpose: "the gateway's admin listener", variable: 'ADMIN_PORT' },
    ...(upstream === null
      ? [{ host: petsHost, port: petsPortOf(environment), purpose: 'the pets service', variable: 'PETS_PORT' }]
      : []),
  ]);
  const petsAddress = petsPort === undefined ? null : `http://${dialed(petsHost)}:${petsPort}`;
  const shared = {
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    PETGATE_DATA: settings.data,
    ...(petsAddress === null
      ? {}
      : {
          PETS_HOST: petsHost,
          PETS_PORT: String(petsPort),
          PETS_URL: readVariable(environment, 'PETS_URL') || petsAddress,
        }),
    ...logDefaults(settings, environment),
  };
  const addresses: Addresses = {
    gateway: `${settings.tls === undefined ? 'http' : 'https'}://${dialed(settings.listen.host)}:${port}`,
    admin: `http://${dialed(settings.admin.host)}:${adminPort}`,
    pets: petsAddress,
  };
  return { childEnvironment: { ...environment, ...shared }, addresses };
}

/** People get a line per request, and warnings; with LOG_LEVEL set, the log is as in production. */
function logDefaults({ environment: name, log }: Settings, environment: NodeJS.ProcessEnv) {
  if (readVariable(environment, 'LOG_LEVEL') !== '') return {};
  const isForPeople = name === 'development' && log.access === true && readVariable(environment, 'LOG_ACCESS') === '';
  return { LOG_LEVEL: 'warn', ...(isForPeople ? { LOG_ACCESS: 'text' } : {}) };
}

/** Returns the variables of this terminal that a command in another one needs, as shell assignments. */
function assignmentsFor(environment: NodeJS.ProcessEnv, childEnvironment: NodeJS.ProcessEnv): string {
  return ['PETGATE_CONFIG', 'PETGATE_DATA', 'ADMIN_HOST', 'ADMIN_PORT']
    .filter((name) => readVariable(environment, name) !== '')
    .map((name) => `${name}=${quoted(childEnvironment[name]!)} `)
    .join('');
}

/** Returns the command that runs this program from the current folder. */
function programName(script = process.argv[1] ?? ''): string {
  if (process.cwd() === packageRoot.replace(/\/$/, '')) return './petgate';
  if (script.includes('/node_modules/.bin/')) return 'npx petgate';
  return basename(script) === 'petgate' ? 'petgate' : `node ${quoted(script)}`;
}

function petsPortOf(environment: NodeJS.ProcessEnv): number {
  const text = readVariable(environment, 'PETS_PORT') || PETS_PORT;
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new CommandError('PETS_PORT must be a port: a whole number from 0 to 65535.');
  return port;
}

/**
 * The first signal stops all programs, one after the other; the next one kills them. Returns whether that began, and
 * the exit code, once all programs have ended.
 */
function stopOnSignal(children: readonly Child[], graceMs: number) {
  let beganMs: number | undefined;
  let finish: (code: number) => void;
  const done = new Promise<number>((resolve) => (finish = resolve));
  const stopAll = async (): Promise<void> => {
    for (const child of children) await child.stop(graceMs);
    finish(0);
  };
  const onSignal = (): void => {
    const nowMs = Date.now();
    if (beganMs === undefined) {
      beganMs = nowMs;
      say('\nStopping. Ctrl-C again kills immediately.');
      void stopAll();
    } else if (nowMs - beganMs > SAME_SIGNAL_MS) {
      for (const child of children) child.kill();
      process.exit(130);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  exitWithParent(onSignal);
  return { began: () => beganMs !== undefined, done };
}
