import { decoded } from '../document/references.js';
import { fitsSegment, parseTemplate, shapeOf } from './segments.js';
import { createNode, find, hasRivals, insert } from './tree.js';

/** Paths for which `loosen` must do more than convert to lower case. */
const ODD = /[%;\\]|[. ](?:\/|$)|\/(?:\/|$)/;

/**
 * Finds paths that an upstream may read as another route's: Express ignores case and a trailing slash, servlet
 * containers cut `;…` and then resolve `..`, Windows drops trailing dots and blanks, others decode before they match.
 * With `/admin/secret` and `/admin/{x}`, `/admin/SECRET` fits the second, but reaches the handler of the first.
 * @param routes by template
 * @param any the route of paths that fit no template
 * @returns whether the path, read loosely, leads to a template that is preferred to the one that it fits
 */
export function findsSimilar<Route>(
  routes: readonly (readonly [template: string, route: Route])[],
  any: Route | undefined,
): (route: Route, path: string) => boolean {
  const root = createNode<Set<Route>>();
  const templates = routes.map(([template, route]) => [looseTemplate(template), route] as const);
  for (const [template, route] of templates) (insert(root, template).end ??= new Set()).add(route);
  // Routes that a preferred template may compete with. Paths of all others, which are most, need no further check.
  const contested = new Map<Route, string | null>(
    templates.filter(([template]) => hasRivals(root, template)).map(([template, route]) => [route, template]),
  );
  // This route also takes paths beyond its template, so any other template competes with it.
  if (any !== undefined && new Set(templates.map(([template]) => template)).size > 1) contested.set(any, null);

  return (route, path) => {
    const template = contested.get(route);
    if (template === undefined) return false;
    const loose = loosen(path);
    const found = find(root, loose, 1);
    if (found === undefined || found.has(route)) return false;
    // A template that itself contains a `;` intends it.
    return template === null || mayFit(template, loose);
  };
}

/** Returns a path as the least strict upstream reads it. */
export function loosen(path: string): string {
  if (!ODD.test(path)) return path.toLowerCase();
  const kept: string[] = [];
  for (const segment of decoded(path).toLowerCase().split(/[/\\]/)) {
    const semicolon = segment.indexOf(';');
    const cut = semicolon === -1 ? segment : segment.slice(0, semicolon);
    if (cut === '..') kept.pop();
    else kept.push(withoutEnd(cut));
  }
  return `/${kept.filter((segment) => segment !== '').join('/')}`;
}

/** Removes trailing dots and blanks. */
function withoutEnd(segment: string): string {
  let end = segment.length;
  while (end > 0 && (segment[end - 1] === '.' || segment[end - 1] === ' ')) end -= 1;
  return segment.slice(0, end);
}

function looseTemplate(template: string): string {
  const parts = shapeOf(template).split(/(\{\+?\})/);
  const loose = parts.map((part, index) => (index % 2 === 1 ? part : decoded(part).toLowerCase())).join('');
  return `/${loose
    .split('/')
    .filter((segment) => segment !== '')
    .join('/')}`;
}

/** Returns false if a loosened path has as many segments as the template, but does not fit it. */
function mayFit(template: string, path: string): boolean {
  const segments = path.slice(1).split('/');
  const wanted = parseTemplate(template);
  return (
    segments.length !== wanted.length ||
    wanted.every(({ texts }, index) => fitsSegment(texts, segments[index]!, 0, segments[index]!.length))
  );
}
