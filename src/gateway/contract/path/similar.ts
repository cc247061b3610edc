import { fitsSegment, parseTemplate, shapeOf } from './segments.js';
import { createNode, find, hasRivals, insert } from './tree.js';

/** What `loosen` does more about than letters. */
const ODD = /[%;\\]|[. ](?:\/|$)|\/(?:\/|$)/;

/**
 * Finds paths that an upstream may read as another route's: Express ignores case and a slash at the end, servlet
 * containers cut `;…` and then resolve `..`, Windows drops dots and blanks at the end, others decode before they match.
 * With `/admin/secret` beside `/admin/{x}`, `/admin/SECRET` fits the second, and reaches the handler of the first.
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
  // Of most routes no path is looked at further.
  const contested = new Map<Route, string | null>(
    templates.filter(([template]) => hasRivals(root, template)).map(swap),
  );
  // It goes on behind its template, too: wherever there is another one.
  if (any !== undefined && new Set(templates.map(([template]) => template)).size > 1) contested.set(any, null);

  return (route, path) => {
    const template = contested.get(route);
    if (template === undefined) return false;
    const loose = loosen(path);
    const found = find(root, loose, 1);
    if (found === undefined || found.has(route)) return false;
    // A template with a `;` of its own means it.
    return template === null || mayFit(template, loose);
  };
}

function swap<A, B>([a, b]: readonly [A, B]): readonly [B, A] {
  return [b, a];
}

/** A path as the least strict upstream reads it. */
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

/** Without dots and blanks at its end. */
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

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // not UTF-8
  }
}

/** False where the path has the template's segments, and they are not those of a path read loosely. */
function mayFit(template: string, path: string): boolean {
  const segments = path.slice(1).split('/');
  const wanted = parseTemplate(template);
  return (
    segments.length !== wanted.length ||
    wanted.every(({ texts }, index) => fitsSegment(texts, segments[index]!, 0, segments[index]!.length))
  );
}
