import { AdminRefusal } from '../actions/answer.js';
import type { Page } from './visit/page.js';

/** A page, and the parameters in its path. */
export interface FoundPage {
  readonly page: Page;
  readonly id: string;
  readonly part: string;
}

/** Longest id or name in a path, percent-encoded. */
const MAX_PART = 256;

/** Returns a function that finds a page. It throws AdminRefusal: 405 if the path has other methods, else 404. */
export function createFinder(pages: readonly Page[]): (method: string, path: string) => FoundPage {
  const known = pages.map((page) => ({ page, pattern: patternOf(page.path) }));
  return (method, path) => {
    const onPath = known.flatMap(({ page, pattern }) => {
      const match = pattern.exec(path);
      return match === null ? [] : [{ page, id: decoded(match.groups?.['id']), part: decoded(match.groups?.['part']) }];
    });
    const wanted = method === 'HEAD' ? 'GET' : method;
    const found = onPath.find(({ page }) => page.method === wanted);
    if (found !== undefined) return found;
    if (onPath.length === 0) throw new AdminRefusal(404, 'not_found', 'The console has no such page.');
    const allow = [...new Set(onPath.map(({ page }) => page.method))].flatMap((one) =>
      one === 'GET' ? [one, 'HEAD'] : [one],
    );
    throw new AdminRefusal(405, 'method_not_allowed', `This page allows ${allow.join(', ')}.`, {
      Allow: allow.join(', '),
    });
  };
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, `(?<$1>[^/]{1,${MAX_PART}})`)}$`);
}

function decoded(text = ''): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AdminRefusal(404, 'not_found', 'The console has no such page.');
  }
}
