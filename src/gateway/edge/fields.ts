/** How many field names each question is remembered for. Beyond it an answer is worked out each time. */
const MAX_NAMES = 1000;

/** `decide`, worked out once for each name: clients and servers repeat few spellings. */
export function remembered<Answer>(decide: (name: string) => Answer): (name: string) => Answer {
  const answers = new Map<string, Answer>();
  return (name) => {
    const known = answers.get(name);
    if (known !== undefined) return known;
    const answer = decide(name);
    if (answers.size < MAX_NAMES) answers.set(name, answer);
    return answer;
  };
}

export const lowerName = remembered((name) => name.toLowerCase());

/** Whether it is this name, which is in lower case. Most are not even as long. */
function isNamed(name: string, wanted: string): boolean {
  return name.length === wanted.length && (name === wanted || lowerName(name) === wanted);
}

/**
 * The same for all names that a server may read as one field: CGI and WSGI know no difference between `-` and `_`, and
 * some drop those at the end.
 */
export const fieldKey = remembered((name) => name.toLowerCase().split(/[-_]+/).filter(Boolean).join('-'));

/** What no field value may hold: Node's `writeHead` throws at it, and an upstream could read another field in it. */
export const ODD_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Fields that belong to one connection only (RFC 9110 §7.6.1), both ways. */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The names a Connection field lists, in lower case. */
export function connectionOptions(value: string): readonly string[] {
  return value
    .toLowerCase()
    .split(',')
    .map((option) => option.trim());
}

/** The names that the Connection fields list, beside what they mostly say. Null when there are none. */
export function namedByConnection(headers: readonly string[]): readonly string[] | null {
  let named: readonly string[] | null = null;
  for (let index = 0; index < headers.length; index += 2) {
    if (!isNamed(headers[index]!, 'connection')) continue;
    const value = headers[index + 1]!;
    if (value !== 'keep-alive' && value !== 'close') named = [...(named ?? []), ...connectionOptions(value)];
  }
  return named;
}

/** The value of a field that came exactly once: two of a kind are nobody's. Flat `[name, value, …]`. */
export function onlyValueOf(headers: readonly string[], wanted: string): string | null {
  let value: string | null = null;
  for (let index = 0; index < headers.length; index += 2) {
    if (!isNamed(headers[index]!, wanted)) continue;
    if (value !== null) return null;
    value = headers[index + 1]!;
  }
  return value;
}

/** Whether this Accept asks for a page, as a browser's does: programs send a type of their own, or any. */
export function wantsHtml(accept: string): boolean {
  return /(?:^|,)\s*text\/html\s*(?:$|,|;(?!\s*q=0(?:\.0*)?\s*(?:$|,)))/i.test(accept);
}

/** Adds to what a response varies by, each name once and in one field: not every cache reads a second. */
export function addVary(headers: string[], value: string): void {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index] !== 'Vary') continue;
    const before = headers[index + 1]!;
    const known = connectionOptions(before);
    const added = value.split(',').map((name) => name.trim());
    headers[index + 1] = [before, ...added.filter((name) => !known.includes(name.toLowerCase()))].join(', ');
    return;
  }
  headers.push('Vary', value);
}
