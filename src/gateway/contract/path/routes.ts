import type { Match, Operation, RouteTable } from '../operation.js';
import { createFits } from './parameters.js';
import { fitsSegment, parseTemplate } from './segments.js';

/** What one path answers. Every Match is made at load, so that finding one allocates nothing. */
interface Route {
  readonly matches: ReadonlyMap<string, Match>;
  readonly otherwise: Match;
}

/** Where a path has led, with the segment that led there. */
interface Node {
  readonly texts: readonly string[];
  /** The segment with `{}` for each parameter: its name tells no paths apart. */
  readonly shape: string;
  readonly operations: Operation[];
  route: Route | undefined;
  /** Behind a segment without a parameter, by the hash of its text. */
  readonly byText: Map<number, Node[]>;
  /** Behind a segment with parameters, in the order in which they are tried. */
  readonly templated: Node[];
}

const SLASH = 47;
const NOT_FOUND: Match = { kind: 'not_found' };
const ALLOW_ORDER = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

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
export function buildRoutes(operations: readonly Operation[]): RouteTable {
  const root = createNode([]);
  const ends = new Set(operations.map((operation) => insert(root, operation)));
  for (const end of ends) end.route = routeOf(end.operations);
  // `*` asks what the server as a whole can do (RFC 9110 §9.3.7); only OPTIONS has that target.
  const { allow, otherwise } = routeOf(operations);
  const server: Route = { matches: new Map([['OPTIONS', { kind: 'options', allow }]]), otherwise };
  const any = anyPathOf(operations);
  // Made at first use: of so many operations most are never asked for.
  const fits = new Map<Operation, (path: string) => boolean>();
  return {
    operations,
    match(method, path) {
      const found = path.charCodeAt(0) === SLASH ? find(root, path, 1) : path === '*' ? server : undefined;
      const route = found ?? (any !== undefined && path.startsWith(any.before) ? any.route : undefined);
      return route === undefined ? NOT_FOUND : (route.matches.get(method) ?? route.otherwise);
    },
    fits(operation, path) {
      if (operation.anyPath === true) return true;
      let own = fits.get(operation);
      if (own === undefined) fits.set(operation, (own = createFits(operation)));
      return own(path);
    },
  };
}

/** What holds for all paths that lead nowhere else, and begin with `before`. */
function anyPathOf(operations: readonly Operation[]): { readonly before: string; readonly route: Route } | undefined {
  const any = operations.filter(({ anyPath }) => anyPath === true);
  const [first] = any;
  if (first === undefined) return undefined;
  return { before: first.path.slice(0, first.path.indexOf('{')), route: routeOf(any) };
}

function routeOf(operations: readonly Operation[]): Route & { readonly allow: string } {
  const matches = new Map<string, Match>();
  for (const operation of operations.toReversed()) matches.set(operation.method, { kind: 'operation', operation });
  const get = matches.get('GET');
  if (get !== undefined && !matches.has('HEAD')) matches.set('HEAD', get);
  const allow = ALLOW_ORDER.filter((method) => method === 'OPTIONS' || matches.has(method)).join(', ');
  if (!matches.has('OPTIONS')) matches.set('OPTIONS', { kind: 'options', allow });
  return { matches, otherwise: { kind: 'method_not_allowed', allow }, allow };
}

function createNode(texts: readonly string[]): Node {
  return { texts, shape: texts.join('{}'), operations: [], route: undefined, byText: new Map(), templated: [] };
}

/** The node where its template ends. */
function insert(root: Node, operation: Operation): Node {
  let node = root;
  for (const { texts } of parseTemplate(operation.path)) node = childOf(node, texts);
  node.operations.push(operation);
  return node;
}

function childOf(node: Node, texts: readonly string[]): Node {
  const siblings = texts.length === 1 ? sameHash(node, texts[0]!) : node.templated;
  const wanted = texts.join('{}');
  const known = siblings.find(({ shape }) => shape === wanted);
  if (known !== undefined) return known;
  const child = createNode(texts);
  siblings.push(child);
  siblings.sort(inOrder);
  return child;
}

function sameHash({ byText }: Node, text: string): Node[] {
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = addTo(hash, text.charCodeAt(at));
  const nodes = byText.get(hash) ?? [];
  byText.set(hash, nodes);
  return nodes;
}

function addTo(hash: number, code: number): number {
  return (Math.imul(hash, 31) + code) | 0;
}

function inOrder(a: Node, b: Node): number {
  const length = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);
  return length(b.texts) - length(a.texts) || a.texts.length - b.texts.length || (a.shape < b.shape ? -1 : 1);
}

/** @param start of the segment that leads on from the node; beyond the path when there is none */
function find(node: Node, path: string, start: number): Route | undefined {
  if (start > path.length) return node.route;
  let end = start;
  let hash = 0;
  for (let code = path.charCodeAt(end); end < path.length && code !== SLASH; code = path.charCodeAt(end)) {
    hash = addTo(hash, code);
    end += 1;
  }
  const same = node.byText.size === 0 ? undefined : node.byText.get(hash);
  return (same && findIn(same, path, start, end)) ?? findIn(node.templated, path, start, end);
}

function findIn(nodes: readonly Node[], path: string, start: number, end: number): Route | undefined {
  for (const node of nodes) {
    // Most segments with a parameter are nothing else.
    const fits = node.shape === '{}' ? end > start : fitsSegment(node.texts, path, start, end);
    const route = fits ? find(node, path, end + 1) : undefined;
    if (route !== undefined) return route;
  }
  return undefined;
}
