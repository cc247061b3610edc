/** What stands between two slashes of a template: text, parameter, text, …, parameter, text; texts may be empty. */
interface Segment {
  readonly texts: readonly string[];
  /** Of the parameters: one fewer than texts. */
  readonly names: readonly string[];
}

/** Of the characters of a path from `start` to before `end`. */
export type Check = (path: string, start: number, end: number) => boolean;

/** The segments of a template such as `/v1/pets/{petId}`, whose text is in the normal form of requests. */
export function parseTemplate(template: string): readonly Segment[] {
  return template
    .slice(1)
    .split('/')
    .map((segment) => {
      const parts = segment.split(/\{([^{}]*)\}/);
      return {
        texts: parts.filter((_, index) => index % 2 === 0),
        names: parts.filter((_, index) => index % 2 === 1),
      };
    });
}

/** The same for templates that differ in names of parameters alone. */
export function shapeOf(template: string): string {
  return template.replaceAll(/\{[^{}]*\}/g, '{}');
}

/**
 * Whether the segment of a path from `start` to before `end` fits these texts with a parameter between each two. From
 * the left, each parameter takes as few characters as it can, but one at least; the last one takes what the text
 * behind it leaves: `{base}...{head}` reads `a...b...c` as `a` and `b...c`. An escape that this cuts in two makes a
 * parameter that is no text, which no check takes. Nothing else fits where this doesn't: a parameter that took
 * more would leave less for all behind it.
 * @param checks of the parameters, in their order; left out, they may be anything
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
