import type { Match, Operation, RouteTable } from './operation.js';

/** What one path answers. Every Match is made at load, so that finding one allocates nothing. */
interface Route {
  readonly matches: ReadonlyMap<string, Match>;
  readonly otherwise: Match;
}
interface TemplateRoute extends Route {
  readonly segments: Segments;
}
/** The path between its slashes; null stands for a parameter. */
type Segments = readonly (string | null)[];

const NOT_FOUND: Match = { kind: 'not_found' };
const ALLOW_ORDER = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** `operations` must be free of clashes, see `clash`. A static path wins over a template, as OpenAPI has it. */
export function buildRoutes(operations: readonly Operation[]): RouteTable {
  const statics = new Map<string, Route>();
  const templates: TemplateRoute[] = [];
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const route = routeOf(operations.filter((operation) => operation.path === path));
    if (path.includes('{')) templates.push({ ...route, segments: segmentsOf(path) });
    else statics.set(path, route);
  }
  // `*` asks what the server as a whole can do (RFC 9110 §9.3.7); only OPTIONS has that target.
  const { matches, otherwise } = routeOf(operations);
  statics.set('*', { matches: new Map([['OPTIONS', matches.get('OPTIONS')!]]), otherwise });
  return {
    operations,
    match(method, path) {
      const route = statics.get(path) ?? findTemplate(templates, path);
      if (route === undefined) return NOT_FOUND;
      return route.matches.get(method) ?? route.otherwise;
    },
  };
}

/** True when a request could mean both: same path, or two templates that some path fits. */
export function clash(a: Operation, b: Operation): boolean {
  if (a.path === b.path) return a.method === b.method;
  const left = segmentsOf(a.path);
  const right = segmentsOf(b.path);
  if (!left.includes(null) || !right.includes(null) || left.length !== right.length) return false;
  return left.every((segment, index) => segment === null || right[index] === null || segment === right[index]);
}

function routeOf(operations: readonly Operation[]): Route {
  const matches = new Map<string, Match>();
  for (const operation of operations) matches.set(operation.method, { kind: 'operation', operation });
  const get = matches.get('GET');
  if (get !== undefined && !matches.has('HEAD')) matches.set('HEAD', get);
  const allow = ALLOW_ORDER.filter((method) => method === 'OPTIONS' || matches.has(method)).join(', ');
  if (!matches.has('OPTIONS')) matches.set('OPTIONS', { kind: 'options', allow });
  return { matches, otherwise: { kind: 'method_not_allowed', allow } };
}

function segmentsOf(path: string): Segments {
  return path
    .slice(1)
    .split('/')
    .map((segment) => (segment.startsWith('{') ? null : segment));
}

function findTemplate(templates: readonly TemplateRoute[], path: string): Route | undefined {
  for (const template of templates) {
    if (fits(template.segments, path)) return template;
  }
  return undefined;
}

/** Walks path and template side by side; a parameter takes one segment that isn't empty. */
function fits(segments: Segments, path: string): boolean {
  let at = 0;
  for (const segment of segments) {
    if (path.charCodeAt(at) !== 47 /* slash */) return false;
    at += 1;
    if (segment === null) {
      const slash = path.indexOf('/', at);
      const end = slash === -1 ? path.length : slash;
      if (end === at) return false;
      at = end;
    } else {
      if (!path.startsWith(segment, at)) return false;
      at += segment.length;
    }
  }
  return at === path.length;
}
