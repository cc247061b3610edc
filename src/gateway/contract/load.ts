import { join } from 'node:path';
import { packageRoot } from '../../shared/package-root.js';
import { problemsOf } from '../config/files/issues.js';
import { ConfigError, type SourceLocation, type Problem } from '../config/files/problem.js';
import type { Path, YamlFile } from '../config/files/yaml-file.js';
import { documentShape, METHODS, type ContractDocument, type DocumentOperation, type Servers } from './document.js';
import type { Operation, RouteTable } from './operation.js';
import { readParameters } from './path/parameters.js';
import { buildRoutes } from './path/routes.js';
import { shapeOf } from './path/segments.js';
import { readContract } from './source.js';

export interface Contract {
  readonly routes: RouteTable;
  readonly document: string;
}

/** An operation with where it stands, so that one named twice can name both places. */
interface LoadedOperation {
  readonly operation: Operation;
  readonly path: Path;
}

type Deadlines = Readonly<Record<string, { readonly deadlineMs: number }>>;

/**
 * Reads the OpenAPI document and derives the routes from it.
 * @param upstreams those of the settings: no operation may take longer than its own
 * @throws ConfigError with every problem, each with file, line and column
 */
export function loadContract(path = join(packageRoot, 'config/openapi.yaml'), upstreams: Deadlines = {}): Contract {
  const file = readContract(path);
  const parsed = documentShape.safeParse(file.value);
  if (!parsed.success) throw new ConfigError(problemsOf(parsed.error.issues, checkedOf(file)));
  const problems: Problem[] = [];
  const report = (at: Path, part: 'key' | 'value', message: string): void => {
    problems.push({ ...locationIn(file, at, part), path: at.join('.'), message });
  };
  const found = findOperations(parsed.data, report);
  checkNames(found, file, report);
  for (const one of found) checkDeadline(one, upstreams, report);
  if (problems.length > 0) throw new ConfigError(problems);
  return { routes: buildRoutes(found.map(({ operation }) => operation)), document: JSON.stringify(file.value) };
}

type Report = (at: Path, part: 'key' | 'value', message: string) => void;

function findOperations(document: ContractDocument, report: Report): LoadedOperation[] {
  const found: LoadedOperation[] = [];
  for (const [template, item] of Object.entries(document.paths)) {
    const at = ['paths', template];
    const servers = item.servers ?? document.servers;
    const base = basePath(servers, item.servers === undefined ? ['servers'] : [...at, 'servers'], report);
    for (const method of METHODS) {
      const operation = item[method];
      if (operation === undefined) continue;
      checkWebsocket(operation, method, [...at, method, 'x-petgate', 'websocket'], report);
      const ways = operation.security ?? document.security ?? [];
      // An empty way to authenticate is OpenAPI's word for "or not at all".
      const secured = ways.length > 0 && ways.every((way) => Object.keys(way).length > 0);
      const parameters = readParameters(
        base + template,
        [...(item.parameters ?? []), ...(operation.parameters ?? [])],
        document,
        (message) => report([...at, method], 'key', message),
      );
      found.push({
        path: [...at, method],
        operation: { ...toOperation(method.toUpperCase(), base + template, operation, secured), parameters },
      });
    }
  }
  return found;
}

function toOperation(
  method: string,
  path: string,
  source: DocumentOperation,
  secured: boolean,
): Omit<Operation, 'parameters'> {
  const { upstream, cost, scope, stability, websocket, deadline } = source['x-petgate'];
  const sunset = source['x-sunset'];
  return {
    id: source.operationId,
    method,
    path,
    upstream,
    cost,
    secured,
    scope,
    hasBody: source.requestBody !== undefined,
    stability,
    websocket: websocket === true,
    deadlineMs: deadline ?? null,
    sunsetAtMs: sunset === undefined ? null : Date.parse(sunset),
    headers: fixedHeaders(source),
  };
}

/** Headers of every answer: Deprecation (RFC 9745), Sunset (RFC 8594), Link (RFC 8288), X-Stability; flat. */
function fixedHeaders(operation: DocumentOperation): readonly string[] {
  const headers: string[] = [];
  const deprecatedAt = operation['x-deprecated-at'];
  if (deprecatedAt !== undefined) headers.push('Deprecation', `@${Math.floor(Date.parse(deprecatedAt) / 1000)}`);
  const sunset = operation['x-sunset'];
  // Date's own text is the IMF-fixdate of RFC 9110.
  if (sunset !== undefined) headers.push('Sunset', new Date(sunset).toUTCString());
  const links = Object.entries(operation['x-links'] ?? {}).map(
    ([relation, target]) => `<${target}>; rel="${relation}"`,
  );
  if (links.length > 0) headers.push('Link', links.join(', '));
  const { stability } = operation['x-petgate'];
  if (stability !== null) headers.push('X-Stability', stability);
  return headers;
}

/** A handshake is a GET without a body (RFC 6455 §4.1), and the gateway itself has nothing to say in a tunnel. */
function checkWebsocket(
  { 'x-petgate': { upstream, websocket }, requestBody }: DocumentOperation,
  method: string,
  at: Path,
  report: Report,
): void {
  if (websocket !== true || (method === 'get' && upstream !== 'gateway' && requestBody === undefined)) return;
  report(at, 'value', 'a WebSocket begins with a GET without a body, to an upstream; leave this out');
}

function checkDeadline(
  { operation: { deadlineMs, upstream }, path }: LoadedOperation,
  upstreams: Deadlines,
  report: Report,
): void {
  if (deadlineMs === null) return;
  const at = [...path, 'x-petgate', 'deadline'];
  const max = upstreams[upstream]?.deadlineMs ?? Infinity;
  if (upstream === 'gateway') report(at, 'value', 'the gateway answers this itself, at once; leave this out');
  else if (deadlineMs > max)
    report(at, 'value', `upstreams.${upstream}.deadline is ${max} ms; say no more than that here, or raise it there`);
}

/** The path all servers of one list share, without a slash at its end. Variables stand for their defaults. */
function basePath(servers: Servers, at: Path, report: Report): string {
  const paths = servers.map(({ url, variables }) => {
    const expanded = url.replace(
      /\{([^{}]*)\}/g,
      (_all, name: string) => new Map(Object.entries(variables ?? {})).get(name)?.default ?? '',
    );
    return URL.canParse(expanded, 'http://relative')
      ? new URL(expanded, 'http://relative').pathname.replace(/\/$/, '')
      : null;
  });
  const [first] = paths;
  if (first === undefined || first === null || paths.some((path) => path !== first)) {
    report(at, 'value', 'these servers differ in their path; give all the same, such as /v1');
    return '';
  }
  return first;
}

function checkNames(found: readonly LoadedOperation[], file: YamlFile, report: Report): void {
  found.forEach(({ operation, path }, index) => {
    for (const earlier of found.slice(0, index)) {
      const line = (): number => locationIn(file, earlier.path, 'key').line;
      if (earlier.operation.id === operation.id)
        report(
          [...path, 'operationId'],
          'value',
          `${operation.id} is the name of the operation in line ${line()} too; choose another`,
        );
      const same = earlier.operation.path;
      if (earlier.operation.method === operation.method && shapeOf(same) === shapeOf(operation.path))
        report(path, 'key', `no request would come here: ${operation.method} ${same} in line ${line()} is the same`);
    }
  });
}

function checkedOf(file: YamlFile): Parameters<typeof problemsOf>[1] {
  return {
    location: (path, part) => locationIn(file, path, part),
    says: (path) => file.locate(path, 'value') !== undefined,
  };
}

function locationIn(file: YamlFile, path: Path, part: 'key' | 'value'): SourceLocation {
  const location = file.locate(path, part);
  if (location !== undefined) return location;
  return path.length === 0 ? { file: file.file, line: 1, column: 1 } : locationIn(file, path.slice(0, -1), 'key');
}
