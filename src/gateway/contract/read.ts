import type { Path } from '../config/files/yaml-file.js';
import { readCost, type Metered } from './operation/cost.js';
import type { Findings } from './document/findings.js';
import { isMethod } from '../edge/method.js';
import { ADDITIONAL, isSecured, operationsOf } from './document/operations.js';
import { expand, isMapping, leaveOut, list, parametersIn, textIn, type Mapping } from './document/references.js';
import { isHostAlone, serverPaths } from './document/servers.js';
import type { Operation } from './operation/operation.js';
import { readParameters } from './path/parameters.js';
import { fixedHeaders, readLifetime, readPolicy, type Policy } from './policy.js';
import { normalTemplate } from './document/template.js';

/** An operation, with its names and its location in the document. */
export interface LoadedOperation {
  readonly operation: Omit<Operation, 'id'>;
  readonly operationId: unknown;
  readonly method: string;
  readonly template: string;
  readonly upstream: string;
  readonly at: Path;
}

/** Returns every operation of the document that can be served, in its order. */
export function findOperations(document: Mapping, base: string, findings: Findings): readonly LoadedOperation[] {
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
      findings.warning(
        at,
        'key',
        'no request can have this path, which must begin with / and contain no ? or #; it is left out',
      );
      leaveOut(paths, template);
    } else if (!isMapping(item)) findings.problem(at, 'value', 'must be a mapping of methods, such as get');
    else found.push(...readPath({ document, base, policy, findings }, item, path, at));
  }
  return found;
}

/** The document, with the base path and policy that its operations inherit. */
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
  if (item['trace'] !== undefined) {
    findings.warning([...at, 'trace'], 'key', 'left out: TRACE shows what a proxy adds, and is never forwarded');
    leaveOut(item, 'trace');
  }
  for (const [method, operation, below] of operationsOf(item)) {
    const location = [...at, ...below];
    if (operation === null) continue;
    if (!isMapping(operation)) findings.problem(location, 'value', 'must be a mapping: what the operation is');
    else if (isMethod(method)) yield readOperation(ofPath, item, operation, method, path, location);
    else {
      findings.warning(location, 'key', 'left out: no request may have this method');
      leaveOut(item[ADDITIONAL] as Mapping, method);
    }
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
  // Own operations inherit nothing: reading the reference must not require the scope of an upstream.
  const policy = own.upstream === 'gateway' ? own : { ...inherited, ...own };
  const lifetime = readLifetime(source, at, findings);
  const { upstream = 'default', scope = null, stability = null } = policy;
  const { cost, metered } = readCost(policy.cost ?? 1);
  const hasBody = source['requestBody'] !== undefined;
  // A handshake is a GET (RFC 6455 §4.1), and the gateway's own operations have no WebSocket.
  const maySwitch = method === 'GET' && upstream !== 'gateway';
  for (const [field, message] of contradictionsIn(own, { ...policy, upstream }, metered, maySwitch))
    findings.problem([...at, 'x-petgate', field], 'value', message);
  const ownBase = sharedPath(source['servers'], [...at, 'servers'], findings) ?? base;
  const operation = {
    method,
    path: ownBase + path,
    upstream,
    cost,
    metered,
    secured: isSecured(source['security'] ?? document['security']),
    scope,
    hasBody,
    stability,
    websocket: policy.websocket === true && maySwitch,
    deadlineMs: policy.deadline ?? null,
    bodyBytes: policy.body_size ?? null,
    stream: policy.stream ?? null,
    sunsetAtMs: lifetime['x-sunset'] === undefined ? null : Date.parse(lifetime['x-sunset']),
    headers: fixedHeaders(lifetime, policy),
    tags: tagsIn(source),
    summary: textIn(source['summary']),
    parameters: readParameters(path, declaredIn([item, source], document), (message) =>
      findings.warning(at, 'key', message),
    ),
  };
  const [, template] = at.map(String) as [string, string];
  return { operation, operationId: source['operationId'], method: operation.method, template, upstream, at };
}

/** Yields what an operation's own policy says that cannot be. */
function* contradictionsIn(
  own: Policy,
  { upstream, websocket }: Policy,
  metered: Metered | null,
  maySwitch: boolean,
): Generator<readonly [field: string, message: string]> {
  if (own.websocket === true && !maySwitch)
    yield ['websocket', 'a WebSocket begins with a GET to an upstream; remove this'];
  if (metered !== null && websocket === true && !('bytes' in metered.from))
    yield ['cost', 'of a WebSocket only the bytes are known: set from: { bytes: 1024 }'];
  if (upstream !== 'gateway') return;
  for (const field of ['deadline', 'body_size', 'stream'] as const)
    if (own[field] !== undefined) yield [field, 'the gateway serves this itself; remove this'];
  if (metered !== null) yield ['cost', 'the gateway serves this itself; give it a number'];
}

/** Returns the tags of an operation in its order; ignores what is not text. */
function tagsIn({ tags }: Mapping): readonly string[] {
  return [...new Set(list(tags).filter((tag) => typeof tag === 'string'))];
}

/** Returns the path parameters that the path and the operation declare, with references resolved. */
function declaredIn(holders: readonly Mapping[], document: Mapping): readonly Mapping[] {
  const inPath = parametersIn(holders, document).filter((each) => each['in'] === 'path');
  return inPath.map((each) => ({ ...each, schema: expand(each['schema'], document) }));
}

/** Returns the path of the first of these servers; null if there are none. Warns if their paths differ. */
export function sharedPath(servers: unknown, at: Path, findings: Findings): string | null {
  const [first, ...others] = serverPaths(servers);
  if (first === undefined) return null;
  const hostAlone = (servers as readonly unknown[]).findIndex((each) => isMapping(each) && isHostAlone(each['url']));
  if (hostAlone !== -1)
    findings.warning(
      [...at, hostAlone, 'url'],
      'value',
      'has no scheme; it is read as https:// and this, for its path',
    );
  if (others.some((path) => path !== first))
    findings.warning(
      at,
      'value',
      `these servers differ in their path; that of the first holds, ${first || '/'}: ` +
        'base_path in the settings names another',
    );
  return first;
}
