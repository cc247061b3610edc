/** A private-use character. A number that a JavaScript number might round is kept as text, after this character. */
const MARK = '\ue000';
const NUMBER = '-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?';
const STRING_OR_NUMBER = new RegExp(`"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"|${NUMBER}`, 'g');
const MARKED = new RegExp(`"${MARK}(${NUMBER})"`, 'g');
const WHOLE = new RegExp(`^${NUMBER}$`);
/** Numbers with fewer characters are exact. */
const LONG = 16;
const MAY_BE_LONG = new RegExp(`[:,[]\\s*-?\\d[\\d.]{${LONG - 2},}(?:[eE][+-]?\\d+)?\\s*[,}\\]]`);

/** Parses JSON. Long numbers become marked text; `stringifyExact` writes them as numbers again. */
export function parseExact(json: string): unknown {
  if (!MAY_BE_LONG.test(json)) return JSON.parse(json);
  return JSON.parse(json.replace(STRING_OR_NUMBER, (token) => (isLong(token) ? JSON.stringify(MARK + token) : token)));
}

/** Returns marked text for a long number, as written in JSON or YAML; undefined for anything else. */
export function markLong(source: string): string | undefined {
  return isLong(source) && WHOLE.test(source) ? MARK + source : undefined;
}

export function stringifyExact(
  value: unknown,
  replacer?: (name: string, value: unknown) => unknown,
  space?: number,
): string {
  const json = JSON.stringify(value, replacer, space);
  return json.includes(MARK) ? json.replaceAll(MARKED, '$1') : json;
}

/** Returns what a marked text means: a bigint, or a rounded number if it is not an integer; all else as it is. */
export function unmark(value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith(MARK)) return value;
  const text = value.slice(MARK.length);
  return /^-?\d+$/.test(text) ? BigInt(text) : Number(text);
}

function isLong(token: string): boolean {
  return token.length >= LONG && !token.startsWith('"');
}
