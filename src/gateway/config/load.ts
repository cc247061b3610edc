import { join, resolve, sep } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { z } from 'zod';
import { readVariable } from '../../shared/names/variables.js';
import { packageRoot } from '../../shared/package-root.js';
import type { Plans } from '../admission/plan.js';
import { readCertificate, type Certificate, type TlsFiles } from './certificate.js';
import { contradictions } from './contradictions.js';
import { problemsOf } from './files/issues.js';
import {
  at,
  environmentLayers,
  layOver,
  pathAt,
  plainLayer,
  problemAt,
  readChain,
  readNamed,
  textLayer,
  type Layer,
  type Layers,
} from './files/layers.js';
import { misspeltVariables, locationOf } from './files/environment.js';
import { displayName, readText } from './files/yaml-file.js';
import { plansFile, toPlans } from './schema/plans.js';
import { ConfigError, type Problem } from './files/problem.js';
import { gatewayFile, type GatewayFile, type Settings } from './schema/gateway.js';
import { upstreamSettings, type UpstreamSettings } from './schema/upstream.js';
import { readUpstreamFiles, UNREAD, type UpstreamFiles } from './upstream-files.js';

export { ConfigError, renderProblems } from './files/problem.js';

/** The upstreams if no file has any; other defaults are in the schema. */
const DEFAULTS = plainLayer(
  { upstreams: { pets: { addresses: ['http://127.0.0.1:8081'] }, store: { addresses: [] } } },
  { file: 'default', line: 0, column: 0 },
);

/** The settings with their layers. */
export interface Sources {
  readonly settings: Settings;
  /** The certificate of `settings.tls`; null without TLS, or if it was not requested. */
  readonly certificate: Certificate | null;
  /** What is wrong with it, if it was optional; then `certificate` is null. */
  readonly certificateFault: ConfigError | null;
  readonly gateway: Layers;
  readonly plans: Layers;
  /** All files that were read. */
  readonly files: readonly string[];
}

/**
 * Reads `PETGATE_CONFIG` (default `config/gateway.yaml`), what it extends, its plans, and the environment.
 * Omits what only a running gateway needs: a command may not be allowed to read the certificate's key, and may lack the
 * gateway's variables.
 * @throws ConfigError with all problems and their places; never shows the value of a setting
 */
export function loadSettings(environment: NodeJS.ProcessEnv): Settings {
  return loadSources(environment, 'unread').settings;
}

/**
 * Like `loadSettings`, with the certificate and the source of each value.
 * @param need whether an invalid certificate throws like any other error, or is reported next to the settings;
 *   `unread`: as in `loadSettings`
 */
export function loadSources(environment: NodeJS.ProcessEnv, need: CertificateNeed = 'required'): Sources {
  const steps = readSources(environment, need);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/** The same for a serving gateway: no step blocks the event loop for long. */
export async function loadInTurns(environment: NodeJS.ProcessEnv, need: CertificateNeed): Promise<Sources> {
  const steps = readSources(environment, need);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

type CertificateNeed = 'required' | 'wanted' | 'unread';

function* readSources(environment: NodeJS.ProcessEnv, need: CertificateNeed): Generator<undefined, Sources> {
  const problems: Problem[] = need === 'unread' ? [] : [...misspeltVariables(environment)];
  const faults: Problem[] = [];
  const gateway = collect(problems, () => readGateway(environment));
  yield;
  const file = gateway && check(problems, gateway, gatewayFile);
  yield;
  const plans = gateway && collect(problems, () => readPlans(gateway));
  yield;
  const planFile = plans && check(problems, plans, plansFile);
  yield;
  if (gateway && file) problems.push(...contradictions(gateway, file, need !== 'unread'));
  const tls = gateway ? tlsFiles(gateway) : null;
  const certificate = need === 'unread' ? null : openCertificate(faults, gateway, tls);
  const upstreams = openUpstreamFiles(problems, gateway, file, need, environment);
  const files = filesOf(gateway, plans, tls, upstreams.paths);
  const certificateFault = faults.length === 0 ? null : new ConfigError(faults, files);
  if (gateway) problems.push(...dataInPackages(gateway));
  if (need === 'required' || problems.length > 0) problems.push(...faults);
  if (!gateway || !file || !plans || !planFile || problems.length > 0) throw new ConfigError(problems, files);
  return {
    settings: settingsOf(file, toPlans(planFile), gateway, tls, upstreams.contents),
    certificate,
    certificateFault,
    gateway,
    plans,
    files,
  };
}

/** Reads and checks a plans file by itself. Throws ConfigError. */
export function readPlanFile(path: string): unknown {
  return checkedPlans(readNamed(resolve(path), undefined, '')).value;
}

/** The same for text. @param named its name in problems */
export function readPlanText(text: string, named: string): unknown {
  return checkedPlans(textLayer(text, named)).value;
}

/** Returns the plans of such a file. Throws ConfigError. */
export function plansIn(path: string): Plans {
  return toPlans(checkedPlans(readNamed(resolve(path), undefined, '')).file);
}

/** Returns the plans file of the settings, unchanged. Throws ConfigError. */
export function planFileText(environment: NodeJS.ProcessEnv): string {
  const path = readPlans(readGateway(environment))?.files[0];
  return path === undefined ? '' : readText(path, displayName(path));
}

function checkedPlans(layer: Layer): { readonly value: unknown; readonly file: z.output<typeof plansFile> } {
  const problems: Problem[] = [];
  const layers = layOver([layer]);
  const file = check(problems, layers, plansFile);
  if (file === undefined || problems.length > 0) throw new ConfigError(problems, layers.files);
  return { value: layers.value, file };
}

function filesOf(
  gateway: Layers | undefined,
  plans: Layers | undefined,
  tls: TlsFiles | null,
  more: readonly string[],
): readonly string[] {
  return [...(gateway?.files ?? []), ...(plans?.files ?? []), ...(tls === null ? [] : [tls.cert, tls.key]), ...more];
}

function openUpstreamFiles(
  problems: Problem[],
  gateway: Layers | undefined,
  file: GatewayFile | undefined,
  need: CertificateNeed,
  environment: NodeJS.ProcessEnv,
): UpstreamFiles {
  if (need === 'unread' || gateway === undefined || file === undefined) return UNREAD;
  return readUpstreamFiles(gateway, file, environment, problems);
}

function readGateway(environment: NodeJS.ProcessEnv): Layers {
  const named = readVariable(environment, 'PETGATE_CONFIG');
  const source = plainLayer({ PETGATE_CONFIG: named }, locationOf('PETGATE_CONFIG'));
  const path = named === '' ? join(packageRoot, 'config/gateway.yaml') : resolve(named);
  const files = readChain(path, named === '' ? undefined : source, 'PETGATE_CONFIG');
  return layOver([...environmentLayers(environment), ...files, DEFAULTS]);
}

function readPlans(gateway: Layers): Layers | undefined {
  const { plans } = gateway.value as { plans?: unknown };
  if (plans !== undefined && typeof plans !== 'string') return undefined;
  const from = gateway.decides(['plans']) ?? gateway.base;
  return layOver([readNamed(resolve(from.folder, plans ?? 'plans.yaml'), from, 'plans')]);
}

/** Runs `read` and collects its problems, so that one mistake does not hide others. */
function collect<T>(problems: Problem[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

function check<T extends z.ZodType>(problems: Problem[], layers: Layers, schema: T): z.output<T> | undefined {
  const parsed = schema.safeParse(layers.value);
  if (parsed.success) return parsed.data;
  problems.push(
    ...problemsOf(parsed.error.issues, {
      location: (path, part) => layers.location(path, part),
      says: (path) => layers.decides(path) !== undefined,
    }),
  );
  return undefined;
}

/** The two TLS files; null unless both are set. */
function tlsFiles(gateway: Layers): TlsFiles | null {
  const [cert, key] = [pathAt(gateway, ['tls', 'cert']), pathAt(gateway, ['tls', 'key'])];
  return cert === null || key === null ? null : { cert, key };
}

/** Reports problems of the certificate at the setting of its file. */
function openCertificate(problems: Problem[], gateway: Layers | undefined, tls: TlsFiles | null): Certificate | null {
  if (gateway === undefined || tls === null) return null;
  return readCertificate(tls, (part, message) => {
    problems.push(problemAt(gateway, ['tls', part], message));
  });
}

/** The paths in a setting, resolved relative to its file. */
function pathsAt(gateway: Layers, setting: readonly string[]): readonly string[] {
  const { folder } = gateway.decides(setting) ?? gateway.base;
  const paths = at(gateway.value, setting);
  return Array.isArray(paths) ? paths.map((path) => resolve(folder, String(path))) : [];
}

function dataFolderOf(gateway: Layers): string {
  return pathAt(gateway, ['data']) ?? resolve('data');
}

/** The next npm install replaces `node_modules`, and would delete keys and ledger. */
function dataInPackages(gateway: Layers): Problem[] {
  const folder = dataFolderOf(gateway);
  if (!folder.split(sep).includes('node_modules')) return [];
  const message =
    `the data folder ${folder} is below node_modules, which npm replaces at every install. Move it elsewhere and ` +
    'name it with PETGATE_DATA, or start in another folder';
  return [problemAt(gateway, ['data'], message)];
}

function contractOf(gateway: Layers): string | null {
  if (at(gateway.value, ['contract']) === 'none') return null;
  return pathAt(gateway, ['contract']) ?? join(packageRoot, 'config/openapi.yaml');
}

function settingsOf(
  file: GatewayFile,
  plans: Plans,
  gateway: Layers,
  tls: TlsFiles | null,
  contents: UpstreamFiles['contents'],
): Settings {
  // Without a prototype: names come from files, and may be `constructor`.
  const upstreams = Object.create(null) as Record<string, UpstreamSettings>;
  for (const [name, given] of Object.entries(file.upstreams))
    upstreams[name] = upstreamSettings(name, given, file.limits.body_size, contents.get(name));
  return {
    ...file,
    data: dataFolderOf(gateway),
    contract: contractOf(gateway),
    overlays: pathsAt(gateway, ['overlays']),
    tls: file.tls && { ...file.tls, ...tls },
    plans,
    upstreams,
  };
}
