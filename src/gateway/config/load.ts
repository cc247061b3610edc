import { existsSync, readdirSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { z } from 'zod';
import { readVariable } from '../../shared/names/variables.js';
import { packageRoot } from '../../shared/package-root.js';
import type { Plans } from '../admission/plan.js';
import { readCertificate, type Certificate } from './certificate.js';
import { contradictions } from './contradictions.js';
import { problemsOf } from './files/issues.js';
import {
  at,
  environmentLayers,
  layOver,
  pathAt,
  plainLayer,
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
import { gatewayFile, type GatewayFile } from './schema/gateway.js';
import { toSettings, type ResolvedPaths, type Settings, type TlsSettings } from './settings.js';
import { readUpstreamFiles, UNREAD, type UpstreamFiles } from './upstream-files.js';

export { ConfigError, renderProblems } from './files/problem.js';

/** The upstreams when no file names any; other defaults are in the schema. */
const DEFAULTS = plainLayer(
  { upstreams: { pets: { addresses: ['http://127.0.0.1:8081'] }, store: { addresses: [] } } },
  { file: 'default', line: 0, column: 0 },
);

/** The settings with the layers they came from. */
export interface Sources {
  readonly settings: Settings;
  /** What `settings.tls` names; null without, and when nobody asked for it. */
  readonly certificate: Certificate | null;
  /** What is wrong with it, where it was only wanted; then `certificate` is null. */
  readonly certificateFault: ConfigError | null;
  readonly gateway: Layers;
  readonly plans: Layers;
  /** Every file that was read. */
  readonly files: readonly string[];
}

/**
 * Reads `PETGATE_CONFIG` (default `config/gateway.yaml`), what it extends, its plans, and the environment over them.
 * Only what a gateway needs to run is left alone: who wants to know an address may neither read the certificate's key
 * nor care when it ends, and may lack the variables of the gateway.
 * @throws ConfigError with everything that is wrong, each problem with its place; no value of a setting is shown
 */
export function loadSettings(environment: NodeJS.ProcessEnv): Settings {
  return loadSources(environment, 'unread').settings;
}

/**
 * As `loadSettings`, with the certificate, and where each value came from.
 * @param need whether a certificate that is no good is a reason to throw like any other, or is reported beside the
 *   settings; `unread`: as `loadSettings`
 */
export function loadSources(environment: NodeJS.ProcessEnv, need: CertificateNeed = 'required'): Sources {
  const steps = readSources(environment, need);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/** The same for a gateway that serves meanwhile: no step holds up the event loop for long. */
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
  const tls = gateway ? tlsSettings(gateway) : null;
  const certificate = need === 'unread' ? null : openCertificate(faults, gateway, tls);
  const upstreams = openUpstreamFiles(problems, gateway, file, need, environment);
  const files = filesOf(gateway, plans, tls, upstreams.paths);
  const certificateFault = faults.length === 0 ? null : new ConfigError(faults, files);
  if (gateway) problems.push(...dataInPackages(gateway));
  if (need === 'required' && gateway) problems.push(...archivedFiles(gateway));
  if (need === 'required' || problems.length > 0) problems.push(...faults);
  if (!gateway || !file || !plans || !planFile || problems.length > 0) throw new ConfigError(problems, files);
  return {
    settings: toSettings(file, toPlans(planFile), pathsOf(gateway, tls), upstreams.contents),
    certificate,
    certificateFault,
    gateway,
    plans,
    files,
  };
}

/** What a file of plans says, checked by itself. Throws ConfigError. */
export function readPlanFile(path: string): unknown {
  return checkedPlans(readNamed(resolve(path), undefined, '')).value;
}

/** The same of text. @param named what problems call it */
export function readPlanText(text: string, named: string): unknown {
  return checkedPlans(textLayer(text, named)).value;
}

/** The plans of such a file. Throws ConfigError. */
export function plansIn(path: string): Plans {
  return toPlans(checkedPlans(readNamed(resolve(path), undefined, '')).file);
}

/** The file of plans that the settings name, as it stands there. Throws ConfigError. */
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
  tls: TlsSettings | null,
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

/** Runs `read`; what it refuses joins the problems, so that one mistake does not hide the others. */
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

/** Where the two files of TLS are; null when not both are named. */
function tlsSettings(gateway: Layers): TlsSettings | null {
  const [cert, key] = [pathAt(gateway, ['tls', 'cert']), pathAt(gateway, ['tls', 'key'])];
  return cert === null || key === null ? null : { cert, key };
}

/** Problems of the certificate are reported where its file is named. */
function openCertificate(
  problems: Problem[],
  gateway: Layers | undefined,
  tls: TlsSettings | null,
): Certificate | null {
  if (gateway === undefined || tls === null) return null;
  return readCertificate(tls, (part, message) => {
    problems.push({ ...gateway.location(['tls', part], 'value'), path: `tls.${part}`, message });
  });
}

/** The paths that a setting lists, absolute: relative to the file that says it. */
function pathsAt(gateway: Layers, setting: readonly string[]): readonly string[] {
  const { folder } = gateway.decides(setting) ?? gateway.base;
  const paths = at(gateway.value, setting);
  return Array.isArray(paths) ? paths.map((path) => resolve(folder, String(path))) : [];
}

function dataFolderOf(gateway: Layers): string {
  return pathAt(gateway, ['data']) ?? resolve('data');
}

/** npm replaces `node_modules` with the next install, and the keys and the ledger with it. */
function dataInPackages(gateway: Layers): Problem[] {
  const folder = dataFolderOf(gateway);
  if (!folder.split(sep).includes('node_modules')) return [];
  const message =
    `the data folder ${folder} is below node_modules, which npm replaces at every install. Move it elsewhere and ` +
    'name it with PETGATE_DATA, or start in another folder';
  return [{ ...gateway.location(['data'], 'value'), path: 'data', message }];
}

/** Days that 0.2 archived there would be in no report. */
function archivedFiles(gateway: Layers): Problem[] {
  const folder = join(dataFolderOf(gateway), 'ledger');
  if (!existsSync(folder) || !readdirSync(folder).some((name) => name.endsWith('.tsv'))) return [];
  const message =
    'holds archived days of the ledger, which only 0.2 reads: start it on this data folder once more and bring ' +
    'them back with its `petgate usage archive restore`';
  return [{ file: folder, line: 0, column: 0, path: '', message }];
}

function contractOf(gateway: Layers): string | null {
  if (at(gateway.value, ['contract']) === 'none') return null;
  return pathAt(gateway, ['contract']) ?? join(packageRoot, 'config/openapi.yaml');
}

function pathsOf(gateway: Layers, tls: TlsSettings | null): ResolvedPaths {
  return {
    dataFolder: dataFolderOf(gateway),
    contract: contractOf(gateway),
    overlays: pathsAt(gateway, ['overlays']),
    tls,
  };
}
