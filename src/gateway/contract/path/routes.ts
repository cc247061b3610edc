import { ANY_METHOD } from '../document/any-path.js';
import type { Match, Operation, RouteTable } from '../operation.js';
import { createFits } from './parameters.js';
import { findsSimilar } from './similar.js';
import { createNode, find, insert, type Node } from './tree.js';

/** What one path answers. Every Match is made at load, so that finding one allocates nothing. */
interface Route {
  readonly matches: ReadonlyMap<string, Match>;
  readonly otherwise: Match;
}

/** What is closed beside what no template fits. */
export interface PathRules {
  /** Templates that overlays removed: no other template that fits their paths opens them. */
  readonly removed: readonly string[];
  /** What becomes of a path that an upstream may read as another template's (`similar.ts`). */
  readonly similar: 'refuse' | 'forward';
}

const SLASH = 47;
const NOT_FOUND: Match = { kind: 'not_found' };
const SIMILAR: Match = { kind: 'not_found', setting: 'similar_paths' };
const CLOSED: Route = { matches: new Map(), otherwise: NOT_FOUND };
const ALLOW_ORDER = ['GET', 'HEAD', 'QUERY', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
/** Without a contract each of these is an operation of its own; the last two are never forwarded. */
const OWN_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'CONNECT'];

/**
 * Of the templates that fit a path (`fitsSegment`), segment by segment, that one counts whose segments come first from
 * the left: a segment that is text alone; then the one with more characters of text; then the one with fewer
 * parameters; then the one that sorts first when `{}` is written for each parameter. Neither its methods nor its
 * schemas matter, so that what is a path of its own answers 405 or 404 itself (OpenAPI: "concrete before templated").
 * Of two operations with the same method and, but for names of parameters, template, the first one counts.
 *
 * A tree by segments, which is walked in that order, back from where nothing fits. A node is visited at most once a
 * path, for one way leads to it and its depth says which segment it is tried with: no path costs more than the
 * document has segments.
 */
export function buildRoutes(operations: readonly Operation[], rules: PathRules): RouteTable {
  const root = createNode<Route>();
  const any = anyPathOf(operations);
  const routes = insertAll(root, operations, rules.removed);
  if (any !== undefined) routes.push([any.template, any.route]);
  const isSimilar = rules.similar === 'refuse' ? findsSimilar(routes, any?.route) : () => false;
  // `*` asks what the server as a whole can do (RFC 9110 §9.3.7); only OPTIONS has that target.
  const { allow } = routeOf(operations);
  const server: Route = {
    matches: new Map([['OPTIONS', { kind: 'options', allow }]]),
    otherwise: { kind: 'method_not_allowed', allow },
  };
  // Made at first use: of so many operations most are never asked for.
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

/** The routes that upstreams answer, and closed ones, by template. The gateway itself reads paths as they are. */
function insertAll(
  root: Node<Route>,
  operations: readonly Operation[],
  removed: readonly string[],
): (readonly [template: string, route: Route])[] {
  const byEnd = new Map<Node<Route>, Operation[]>();
  for (const operation of operations) {
    const end = insert(root, operation.path);
    byEnd.set(end, [...(byEnd.get(end) ?? []), operation]);
  }
  const routes: ReturnType<typeof insertAll> = [];
  for (const [end, own] of byEnd) {
    const route = (end.end = routeOf(own));
    if (own.some(({ upstream }) => upstream !== 'gateway')) routes.push([own[0]!.path, route]);
  }
  for (const template of removed) {
    const end = insert(root, template);
    if (end.end === undefined) routes.push([template, (end.end = CLOSED)]);
  }
  return routes;
}

/** What holds for all paths that lead nowhere else, and begin with `before`. */
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
  // Those that an overlay took away stay away.
  for (const method of OWN_METHODS) if (!matches.has(method)) matches.set(method, notAllowed);
  return { matches, otherwise: { kind: 'operation', operation: rest }, allow };
}
