/** Field names cached per question. Beyond that, each is decided again. */
const MAX_NAMES = 1000;

/** `decide`, cached by name: clients and servers use few spellings. */
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

/** Whether `name` is `wanted`, which is in lower case. Most names differ in length. */
function isNamed(name: string, wanted: string): boolean {
  return name.length === wanted.length && (name === wanted || lowerName(name) === wanted);
}

/**
 * Returns the same key for all names that a server may read as one field: CGI and WSGI treat `-` and `_` alike, and
 * some drop trailing ones.
 */
export const fieldKey = remembered((name) => name.toLowerCase().split(/[-_]+/).filter(Boolean).join('-'));

/** Not allowed in field values: Node's `writeHead` throws, and an upstream could read another field in it. */
export const ODD_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Fields of a single connection (RFC 9110 §7.6.1), in both directions. */
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

/** The names in a Connection field, in lower case. */
export function connectionOptions(value: string): readonly string[] {
  return value
    .toLowerCase()
    .split(',')
    .map((option) => option.trim());
}

/** The unusual names in the Connection fields. Null if there are none. */
export function namedByConnection(headers: readonly string[]): readonly string[] | null {
  let named: readonly string[] | null = null;
  for (let index = 0; index < headers.length; index += 2) {
    if (!isNamed(headers[index]!, 'connection')) continue;
    const value = headers[index + 1]!;
    if (value !== 'keep-alive' && value !== 'close') named = [...(named ?? []), ...connectionOptions(value)];
  }
  return named;
}

/** The value of a field that occurs exactly once; repeated fields are ambiguous. Flat: `[name, value, …]`. */
export function onlyValueOf(headers: readonly string[], wanted: string): string | null {
  let value: string | null = null;
  for (let index = 0; index < headers.length; index += 2) {
    if (!isNamed(headers[index]!, wanted)) continue;
    if (value !== null) return null;
    value = headers[index + 1]!;
  }
  return value;
}

/** Whether this Accept asks for a page, as browsers do: programs ask for their own type, or any. */
export function wantsHtml(accept: string): boolean {
  return /(?:^|,)\s*text\/html\s*(?:$|,|;(?!\s*q=0(?:\.0*)?\s*(?:$|,)))/i.test(accept);
}

/** Adds names to Vary, each once and in one field: some caches ignore a second field. */
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
