/** Per form; the longest has lists of scopes and limits. */
const MAX_FIELDS = 200;

/** The request body is not a form of these pages. The message says why, without quoting what was sent. */
export class InvalidForm extends Error {
  override readonly name = 'InvalidForm';
}

/** The fields of a form as a browser sends them (application/x-www-form-urlencoded). */
export class Form {
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(values: ReadonlyMap<string, readonly string[]> = new Map()) {
    this.#values = values;
  }

  /** Returns '' if the field is absent. Throws InvalidForm if it occurs twice, because that is ambiguous. */
  text(name: string): string {
    const [value = '', ...more] = this.all(name);
    if (more.length > 0) throw new InvalidForm(`The field "${name}" came twice.`);
    return value;
  }

  /** Returns the trimmed value; undefined if it is empty or blank. */
  given(name: string): string | undefined {
    const value = this.text(name).trim();
    return value === '' ? undefined : value;
  }

  /** Returns a whole number as a number, other text as it is; undefined if it is empty or blank. */
  figure(name: string): number | string | undefined {
    const text = this.given(name);
    return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : text;
  }

  /** Returns all values of checkboxes with this name. */
  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }
}

/** Reads a form. Throws InvalidForm. The caller must limit the size. */
export function readForm(type: string | undefined, bytes: Buffer): Form {
  if (!/^application\/x-www-form-urlencoded *(?:;|$)/i.test(type ?? ''))
    throw new InvalidForm('Send application/x-www-form-urlencoded, as the form of the page does.');
  return readFields(bytes.toString('latin1'));
}

/** Reads form fields, also from the query of a URL (without its `?`). Throws InvalidForm. */
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

/** Decodes a name or value. URLSearchParams would replace invalid UTF-8 instead of rejecting it. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' ')).replaceAll('\r\n', '\n');
  } catch {
    throw new InvalidForm('It is not UTF-8.');
  }
}
