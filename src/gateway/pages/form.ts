/** Of one form; the longest holds lists of scopes and limits. */
const MAX_FIELDS = 200;

/** What was sent is no form of ours. The message says what is wrong with it, and holds nothing of it. */
export class InvalidForm extends Error {
  override readonly name = 'InvalidForm';
}

/** The fields of a form as a browser sends them (application/x-www-form-urlencoded). */
export class Form {
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(values: ReadonlyMap<string, readonly string[]> = new Map()) {
    this.#values = values;
  }

  /** Empty where it is left out. Throws InvalidForm for a field that comes twice: which was meant, nobody knows. */
  text(name: string): string {
    const [value = '', ...more] = this.all(name);
    if (more.length > 0) throw new InvalidForm(`The field "${name}" came twice.`);
    return value;
  }

  /** Undefined where nothing, or nothing but blanks, was entered. */
  given(name: string): string | undefined {
    const value = this.text(name).trim();
    return value === '' ? undefined : value;
  }

  /** Of checkboxes of one name. */
  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }
}

/** Throws InvalidForm. The caller has bounded the bytes. */
export function readForm(type: string | undefined, bytes: Buffer): Form {
  if (!/^application\/x-www-form-urlencoded *(?:;|$)/i.test(type ?? ''))
    throw new InvalidForm('Send application/x-www-form-urlencoded, as the form of the page does.');
  return readFields(bytes.toString('latin1'));
}

/** The same of what stands behind `?` in an address. */
export function readFields(text: string): Form {
  const values = new Map<string, string[]>();
  const pairs = text === '' ? [] : text.split('&');
  if (pairs.length > MAX_FIELDS) throw new InvalidForm(`It has more than ${MAX_FIELDS} fields.`);
  for (const pair of pairs) {
    const [name = '', value = ''] = splitAt(pair).map(decoded);
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return new Form(values);
}

function splitAt(pair: string): readonly string[] {
  const mark = pair.indexOf('=');
  return mark === -1 ? [pair] : [pair.slice(0, mark), pair.slice(mark + 1)];
}

/** Not by URLSearchParams, which puts another character where it can't read one. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' ')).replaceAll('\r\n', '\n');
  } catch {
    throw new InvalidForm('It is not UTF-8.');
  }
}
