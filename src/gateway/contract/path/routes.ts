import { groupBy } from '../../../shared/group-by.js';
import { ANY_METHOD } from '../document/any-path.js';
import type { Match, Operation, RouteTable } from '../operation/operation.js';
import { createFits } from './parameters.js';
import { findsSimilar } from './similar.js';
import { createNode, find, insert, type Node } from './tree.js';

/** The matches of one template by method. All are created at load time, so that matching allocates nothing. */
interface Route {
  readonly matches: ReadonlyMap<string, Match>;
  readonly otherwise: Match;
}

/** Paths that get 404 although they fit a template. */
export interface PathRules {
  /** Templates that overlays removed: their paths stay closed even if less preferred templates fit them. */
  readonly removed: readonly string[];
  /** What to do with a path that an upstream may read as another template's (`similar.ts`). */
  readonly similar: 'refuse' | 'forward';
}

const SLASH = 47;
const NOT_FOUND: Match = { kind: 'not_found' };
const SIMILAR: Match = { kind: 'not_found', setting: 'similar_paths' };
const CLOSED: Route = { matches: new Map(), otherwise: NOT_FOUND };
const ALLOW_ORDER = ['GET', 'HEAD', 'QUERY', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
/** Methods that the operation for any method does not cover; TRACE and CONNECT are never forwarded. */
const OWN_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'CONNECT'];

/**
 * Builds the route table. If several templates fit a path (`fitsSegment`), the preferred one is found by comparing
 * segments from the left: plain text first; then more characters of text; then fewer parameters; then the one that
 * sorts first with `{}` for each parameter. Methods and schemas do not matter, so that a more concrete path responds
 * with its own 405 or 404 (OpenAPI: "concrete before templated"). If two operations have the same method and template,
 * except for parameter names, the first one wins.
 *
 * The routes are a tree of segments, searched in that order with backtracking. Each path visits a node at most once,
 * because only one way leads to it and its depth determines the segment: no path takes more steps than the document
 * has segments.
 */
export function buildRoutes(operations: readonly Operation[], rules: PathRules): RouteTable {
  const root = createNode<Route>();
  const any = anyPathOf(operations);
  const routes = insertAll(root, operations, rules.removed);
  if (any !== undefined) routes.push([any.template, any.route]);
  const isSimilar = rules.similar === 'refuse' ? findsSimilar(routes, any?.route) : () => false;
  // The target `*` is the server as a whole (RFC 9110 §9.3.7); only OPTIONS may have it.
  const { allow } = routeOf(operations);
  const server: Route = {
    matches: new Map([['OPTIONS', { kind: 'options', allow }]]),
    otherwise: { kind: 'method_not_allowed', allow },
  };
  // Created on first use: most operations of a large contract are never requested.
  const fits = new Map<Operation, (path: string) => boolean>();
  return {
    operations,
    match(method, path) {
      const found = path.charCodeAt(0) === SLASH ? find(root, path, 1) : path === '*' ? server : undefined;
      const route = found ?? (any !== undefined && path.startsWith(any.before) ? any.route : undefined);
      if (route === undefined) return NOT_FOUND;
      return isSimilar(route, path) ? SIMILAR : (route.matches.get(method) ?? route.otherwise);
    },
    fits(operation, path) {
      if (operation.anyPath === true) return true;
      let own = fits.get(operation);
      if (own === undefined) fits.set(operation, (own = createFits(operation)));
      return own(path);
    },
  };
}

/** Returns routes of upstreams and closed ones, by template. The gateway's own need no check for similar paths. */
function insertAll(
  root: Node<Route>,
  operations: readonly Operation[],
  removed: readonly string[],
): (readonly [template: string, route: Route])[] {
  const byEnd = groupBy(operations, ({ path }) => insert(root, path));
  const routes: ReturnType<typeof insertAll> = [];
  for (const [end, own] of byEnd) {
    const route = (end.end = routeOf(own));
    if (own.some(({ upstream }) => upstream !== 'gateway')) routes.push([own[0].path, route]);
  }
  for (const template of removed) {
    const end = insert(root, template);
    if (end.end === undefined) routes.push([template, (end.end = CLOSED)]);
  }
  return routes;
}

/** Returns the route for paths that fit no other template and begin with `before`; undefined if there is none. */
function anyPathOf(operations: readonly Operation[]) {
  const any = operations.filter(({ anyPath }) => anyPath === true);
  const [first] = any;
  if (first === undefined) return undefined;
  const { path: template } = first;
  return { template, before: template.slice(0, template.indexOf('{')), route: routeOf(any) as Route };
}

function routeOf(operations: readonly Operation[]): Route & { readonly allow: string } {
  const matches = new Map<string, Match>();
  for (const operation of operations.toReversed()) matches.set(operation.method, { kind: 'operation', operation });
  const get = matches.get('GET');
  if (get !== undefined && !matches.has('HEAD')) matches.set('HEAD', get);
  const more = [...matches.keys()].filter((method) => !ALLOW_ORDER.includes(method) && method !== ANY_METHOD);
  const allow = [...ALLOW_ORDER.filter((method) => method === 'OPTIONS' || matches.has(method)), ...more].join(', ');
  const notAllowed: Match = { kind: 'method_not_allowed', allow };
  const rest = operations.find(({ method, anyPath }) => method === ANY_METHOD && anyPath === true);
  if (!matches.has('OPTIONS'))
    matches.set('OPTIONS', { kind: 'options', allow, ...(rest === undefined ? {} : { operation: rest }) });
  if (rest === undefined) return { matches, otherwise: notAllowed, allow };
  // Methods that an overlay removed stay closed.
  for (const method of OWN_METHODS) if (!matches.has(method)) matches.set(method, notAllowed);
  return { matches, otherwise: { kind: 'operation', operation: rest }, allow };
}
