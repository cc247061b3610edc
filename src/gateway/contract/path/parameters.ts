import type { Operation, PathParameter } from '../operation/operation.js';
import { withinBudget } from './pattern.js';
import { holdTo } from './schema.js';
import { fitsSegment, greedyWithin, parseTemplate } from './segments.js';

/**
 * Returns the parameters of a template with their schemas.
 * @param declared the parameters of path and operation, with references resolved; the later of two wins
 * @param report called for a parameter that cannot be checked against a schema
 */
export function readParameters(
  template: string,
  declared: readonly Readonly<Record<string, unknown>>[],
  report: (message: string) => void,
): readonly PathParameter[] {
  const inPath = declared.filter((parameter) => parameter['in'] === 'path');
  const byName = new Map(inPath.map((parameter) => [parameter['name'], parameter]));
  for (const name of greedyWithin(template))
    report(`{${name}} takes one segment here: only the last parameter of a path takes several`);
  const names = parseTemplate(template).flatMap((segment) => segment.names);
  return names.map((name) => {
    const { style = 'simple', schema } = byName.get(name) ?? {};
    const problem = style === 'simple' ? schemaProblem(schema) : `style ${String(style)} is not checked in paths`;
    if (problem !== null) report(`{${name}} can't be held to a schema: ${problem}`);
    return { name, schema: problem === null ? schema : undefined };
  });
}

/** Returns why values in paths cannot be checked against this schema, so that any text passes; null if they can. */
export function schemaProblem(schema: unknown): string | null {
  return schema === undefined ? 'it has no schema' : holdTo(schema).problem;
}

/** Returns a check whether a path that fits the operation's template has parameters that fit their schemas. */
export function createFits({ path, parameters }: Pick<Operation, 'path' | 'parameters'>): (path: string) => boolean {
  const schemas = new Map(parameters.map(({ name, schema }) => [name, schema]));
  const segments = parseTemplate(path).map(({ texts, names, isGreedy }) => ({
    texts,
    isGreedy,
    checks: names.map((name) => holdTo(schemas.get(name)).check),
  }));
  const fit = (path: string): boolean => {
    let start = 1;
    for (const { texts, isGreedy, checks } of segments) {
      const slash = isGreedy ? -1 : path.indexOf('/', start);
      const end = slash === -1 ? path.length : slash;
      if (checks.length > 0 && !fitsSegment(texts, path, start, end, checks)) return false;
      start = end + 1;
    }
    return true;
  };
  return (path) => withinBudget(() => fit(path));
}
