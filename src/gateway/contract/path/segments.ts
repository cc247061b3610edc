/** The part between two slashes of a template: text, parameter, text, …, parameter, text; texts may be empty. */
export interface Segment {
  readonly texts: readonly string[];
  /** Names of the parameters: one fewer than texts. */
  readonly names: readonly string[];
  /** True for the last segment of `/files/{path+}`: its last parameter may contain slashes. */
  readonly isGreedy: boolean;
}

/** `{proxy+}` (API Gateway), `{+name}` (RFC 6570), `{path*}` (many frameworks). */
const GREEDY = /^(?:[+*]([^+*]+)|([^+*]+)[+*])$/;

/** Checks the characters of a path from `start` up to, but not including, `end`. */
export type Check = (path: string, start: number, end: number) => boolean;

/** Returns the segments of a template such as `/v1/pets/{petId}`, whose text is in the normal form of requests. */
export function parseTemplate(template: string): readonly Segment[] {
  return template
    .slice(1)
    .split('/')
    .map((segment, index, all) => {
      const parts = segment.split(/\{([^{}]*)\}/);
      const names = parts.filter((_, at) => at % 2 === 1);
      return {
        texts: parts.filter((_, at) => at % 2 === 0),
        names: names.map(plainName),
        isGreedy: index === all.length - 1 && GREEDY.test(names.at(-1) ?? ''),
      };
    });
}

/** Returns a parameter's name without the sign that marks it as greedy. */
function plainName(name: string): string {
  const [, behind, before] = GREEDY.exec(name) ?? [];
  return behind ?? before ?? name;
}

/** Returns parameters that are written as greedy but take one segment: only a path's last one takes several. */
export function greedyWithin(template: string): readonly string[] {
  const names = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name);
  const kept = parseTemplate(template).at(-1)?.isGreedy === true ? names.slice(0, -1) : names;
  return kept.filter((name) => GREEDY.test(name));
}

/** Returns the template without parameter names: equal for templates that differ only in those. */
export function shapeOf(template: string): string {
  const segments = parseTemplate(template).map(({ texts, isGreedy }) => {
    const shape = texts.join('{}');
    return isGreedy ? `${shape}{+}` : shape;
  });
  return `/${segments.join('/')}`;
}

/**
 * Returns whether the segment of a path from `start` to before `end` fits these texts with a parameter between each
 * two. From the left, each parameter takes as few characters as possible, at least one; the last one takes what the
 * text after it leaves: `{base}...{head}` reads `a...b...c` as `a` and `b...c`. If that splits an escape, the parameter
 * is not valid text and fails every check. If this does not fit, nothing does: a parameter that took more would leave
 * less for the rest.
 * @param checks for the parameters, in order; if absent, they may be anything
 */
export function fitsSegment(
  texts: readonly string[],
  path: string,
  start: number,
  end: number,
  checks?: readonly Check[],
): boolean {
  if (!path.startsWith(texts[0]!, start)) return false;
  let at = start + texts[0]!.length;
  for (let index = 1; index < texts.length; index += 1) {
    const text = texts[index]!;
    const isLast = index === texts.length - 1;
    const to = isLast ? end - text.length : path.indexOf(text, at + 1);
    if (to <= at || to + text.length > end || (isLast && !path.startsWith(text, to))) return false;
    if (checks !== undefined && !checks[index - 1]!(path, at, to)) return false;
    at = to + text.length;
  }
  return at === end;
}
