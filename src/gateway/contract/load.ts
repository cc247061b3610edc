import { join } from 'node:path';
import { packageRoot } from '../../shared/package-root.js';
import { ConfigError } from '../config/files/problem.js';
import type { Path } from '../config/files/yaml-file.js';
import { Findings } from './document/findings.js';
import { openDocument } from './document/open.js';
import { isSecured, METHODS, UNSERVED } from './document/operations.js';
import { expand, follow, isMapping, leaveOut, type Mapping } from './document/references.js';
import { serve } from './document/serve.js';
import { serverPaths } from './document/servers.js';
import { nameOperations } from './names.js';
import type { Operation, RouteTable } from './operation.js';
import { readParameters } from './path/parameters.js';
import { fixedHeaders, readLifetime, readPolicy, type Policy } from './policy.js';
import { buildRoutes } from './path/routes.js';
import { shapeOf } from './path/segments.js';
import { normalTemplate } from './template.js';

export interface Contract {
  readonly routes: RouteTable;
  /** The document as it is served: JSON in UTF-8. */
  readonly document: Buffer;
}

export interface LoadedContract extends Contract {
  /** What can be lived with, a line each. */
  readonly warnings: readonly string[];
  /** Every file that was read. */
  readonly files: readonly string[];
}

/** What the settings say of a contract. */
export interface ContractSettings {
  /** OpenAPI Overlay documents, applied in this order. */
  readonly overlays?: readonly string[];
  /** Instead of the path of the document's servers. */
  readonly basePath?: string | null;
  /** No operation may take longer than its upstream's. */
  readonly upstreams?: Readonly<Record<string, { readonly deadlineMs: number }>>;
}

/** An operation, and what the document says of it where. */
interface LoadedOperation {
  readonly operation: Omit<Operation, 'id'>;
  readonly operationId: unknown;
  readonly method: string;
  readonly template: string;
  readonly upstream: string;
  readonly at: Path;
}

/**
 * Reads the OpenAPI document with its overlays, and derives the routes from it.
 * @throws ConfigError with every problem, each with file, line and column
 */
export function loadContract(
  path = join(packageRoot, 'config/openapi.yaml'),
  settings: ContractSettings = {},
): LoadedContract {
  const findings = new Findings();
  try {
    return readContract(path, settings, findings);
  } catch (error) {
    const message = `can't be read as an OpenAPI document: ${(error as Error).message}`;
    const unread = { ...findings.location([], 'value'), path: '', message };
    throw new ConfigError(error instanceof ConfigError ? error.problems : [unread], findings.files);
  }
}

function readContract(
  path: string,
  { overlays = [], basePath = null, upstreams }: ContractSettings,
  findings: Findings,
): LoadedContract {
  const document = openDocument(path, overlays, findings);
  const base = basePath ?? sharedPath(document['servers'], ['servers'], findings) ?? '';
  const found = withoutTwins(findOperations(document, base, findings), findings);
  if (upstreams !== undefined) checkUpstreams(found, upstreams, findings);
  const names = nameOperations(found, findings.warning);
  const warnings = findings.end();
  return {
    routes: buildRoutes(found.map(({ operation }, index) => ({ id: names[index]!, ...operation }))),
    document: serve(document, base),
    warnings,
    files: findings.files,
  };
}

function findOperations(document: Mapping, base: string, findings: Findings): readonly LoadedOperation[] {
  const found: LoadedOperation[] = [];
  const { paths = {} } = document;
  if (!isMapping(paths)) {
    findings.problem(['paths'], 'value', 'must be a mapping of paths, such as /pets');
    return found;
  }
  const policy = readPolicy(document, [], findings);
  for (const [template, item] of Object.entries(paths)) {
    const at = ['paths', template];
    if (template.startsWith('x-') || item === null) continue;
    const path = normalTemplate(template);
    if (path === null) {
      findings.warning(at, 'key', 'no request has such a path: it begins with / and has no ? and no #; it is left out');
      leaveOut(paths, template);
    } else if (!isMapping(item)) findings.problem(at, 'value', 'must be a mapping of methods, such as get');
    else found.push(...readPath({ document, base, policy, findings }, item, path, at));
  }
  if (found.length === 0) findings.warning(['paths'], 'key', 'there is no operation here: every request gets 404');
  return found;
}

/** Of two operations of one method, whose paths differ in names of parameters at most, the first counts. */
function withoutTwins(found: readonly LoadedOperation[], findings: Findings): readonly LoadedOperation[] {
  const first = new Map<string, LoadedOperation>();
  return found.filter((each) => {
    const key = `${each.method} ${shapeOf(each.operation.path)}`;
    const { template } = first.get(key) ?? {};
    if (template === undefined) first.set(key, each);
    else findings.warning(each.at, 'key', `left out: no request would come here; ${template} is the same path`);
    return template === undefined;
  });
}

/** What holds for all operations of a document. */
interface Context {
  readonly document: Mapping;
  readonly base: string;
  readonly policy: Policy;
  readonly findings: Findings;
}

function* readPath(context: Context, item: Mapping, path: string, at: Path): Generator<LoadedOperation> {
  const { base, findings } = context;
  const ofPath: Context = {
    ...context,
    base: sharedPath(item['servers'], [...at, 'servers'], findings) ?? base,
    policy: { ...context.policy, ...readPolicy(item, at, findings) },
  };
  for (const name of UNSERVED) {
    if (item[name] === undefined) continue;
    findings.warning([...at, name], 'key', `left out; served are ${METHODS.join(', ')}`);
    leaveOut(item, name);
  }
  for (const method of METHODS) {
    const operation = item[method];
    if (operation === undefined || operation === null) continue;
    if (isMapping(operation)) yield readOperation(ofPath, item, operation, method, path, [...at, method]);
    else findings.problem([...at, method], 'value', 'must be a mapping: what the operation is');
  }
}

function readOperation(
  { document, base, policy: inherited, findings }: Context,
  item: Mapping,
  source: Mapping,
  method: string,
  path: string,
  at: Path,
): LoadedOperation {
  const own = readPolicy(source, at, findings);
  const policy = { ...inherited, ...own };
  const lifetime = readLifetime(source, at, findings);
  const { upstream = 'default', cost = 1, scope = null, stability = null } = policy;
  const hasBody = source['requestBody'] !== undefined;
  // A handshake is a GET without a body (RFC 6455 §4.1), and the gateway itself has nothing to say in a tunnel.
  const maySwitch = method === 'get' && upstream !== 'gateway' && !hasBody;
  if (own.websocket === true && !maySwitch)
    findings.problem(
      [...at, 'x-petgate', 'websocket'],
      'value',
      'a WebSocket begins with a GET without a body, to an upstream; leave this out',
    );
  if (own.deadline !== undefined && upstream === 'gateway')
    findings.problem(
      [...at, 'x-petgate', 'deadline'],
      'value',
      'the gateway answers this itself, at once; leave this out',
    );
  const ownBase = sharedPath(source['servers'], [...at, 'servers'], findings) ?? base;
  const operation = {
    method: method.toUpperCase(),
    path: ownBase + path,
    upstream,
    cost,
    secured: isSecured(source['security'] ?? document['security']),
    scope,
    hasBody,
    stability,
    websocket: policy.websocket === true && maySwitch,
    deadlineMs: upstream === 'gateway' ? null : (policy.deadline ?? null),
    sunsetAtMs: lifetime['x-sunset'] === undefined ? null : Date.parse(lifetime['x-sunset']),
    headers: fixedHeaders(lifetime, policy),
    parameters: readParameters(path, declaredIn([item, source], document), (message) =>
      findings.warning(at, 'key', message),
    ),
  };
  const [, template] = at.map(String) as [string, string];
  return { operation, operationId: source['operationId'], method: operation.method, template, upstream, at };
}

/** The parameters in the path of path and operation, without references. */
function declaredIn(holders: readonly Mapping[], document: Mapping): readonly Mapping[] {
  const lists = holders.map(({ parameters }) => parameters).filter((list) => Array.isArray(list));
  const declared = lists.flat().map((each) => follow(each, document));
  const inPath = declared.filter((each) => isMapping(each) && each['in'] === 'path') as Mapping[];
  return inPath.map((each) => ({ ...each, schema: expand(each['schema'], document) }));
}

/** The path of the first of these servers; null without any. */
function sharedPath(servers: unknown, at: Path, findings: Findings): string | null {
  const [first, ...others] = serverPaths(servers);
  if (first === undefined) return null;
  if (others.some((path) => path !== first))
    findings.warning(
      at,
      'value',
      `these servers differ in their path; that of the first holds, ${first || '/'}: ` +
        'base_path in the settings names another',
    );
  return first;
}

/** Upstreams that nobody configured, and deadlines that are longer than those of their upstream. */
function checkUpstreams(
  found: readonly LoadedOperation[],
  upstreams: NonNullable<ContractSettings['upstreams']>,
  findings: Findings,
): void {
  const unknown = new Map<string, number>();
  for (const { operation, upstream, at } of found) {
    if (upstream === 'gateway') continue;
    const settings = upstreams[upstream];
    if (settings === undefined) unknown.set(upstream, (unknown.get(upstream) ?? 0) + 1);
    else if (operation.deadlineMs !== null && operation.deadlineMs > settings.deadlineMs)
      findings.problem(
        policyPath(at, 'deadline', findings),
        'value',
        `upstreams.${upstream}.deadline is ${settings.deadlineMs} ms; say no more than that here, or raise it there`,
      );
  }
  for (const [upstream, count] of unknown)
    findings.warning(
      [],
      'value',
      `the settings have no upstream "${upstream}": ` +
        `${count} ${count === 1 ? 'operation answers' : 'operations answer'} 501`,
    );
}

/** Where a field of the policy of an operation is said: by itself, by its path, or by the document. */
function policyPath(at: Path, field: string, findings: Findings): Path {
  const locations = [at, at.slice(0, 2), []].map((holder) => [...holder, 'x-petgate', field]);
  return locations.find((location) => findings.locate(location, 'value') !== undefined) ?? at;
}
