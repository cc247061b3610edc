import { isUtf8 } from 'node:buffer';
import { Refusal, shown } from './refusal.js';

/** A field's value; a number stays the text it was sent as, so that no digit is lost. */
export type Scalar =
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'literal'; readonly text: 'true' | 'false' | 'null' };

/** What is wrong with a field, whatever its name asks for. */
export interface Fault {
  readonly kind: 'fault';
  readonly message: string;
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERAL = /true|false|null/y;
const LONE_SURROGATE = /\p{Surrogate}/u;
const NEITHER_STRING_NOR_BRACKET = /[^"[\]{}]*/y;

/**
 * Reads a JSON object (RFC 8259) whose fields hold no objects or arrays. Stricter than JSON.parse:
 * broken UTF-8 and a byte order mark are refused, a field sent twice and lone surrogates are faults of
 * their field. As it skips nested values it needs no stack, however deep the body is.
 */
export function readFlatObject(body: Uint8Array): ReadonlyMap<string, Scalar | Fault> | Refusal {
  if (!isUtf8(body)) return new Refusal('invalid_body', 'The body is not valid UTF-8. Send JSON in UTF-8.');
  return new FlatReader(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')).read();
}

class FlatReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): ReadonlyMap<string, Scalar | Fault> | Refusal {
    if (this.#text.startsWith('\uFEFF'))
      return new Refusal('invalid_body', 'The body begins with a byte order mark. Send JSON without it.');
    this.#match(SPACE);
    if (this.#at === this.#text.length)
      return new Refusal('invalid_body', 'The body is empty. Send a JSON object with name and categoryId.');
    if (!this.#eat('{')) return new Refusal('invalid_body', 'The body must be a JSON object.');
    const fields = new Map<string, Scalar | Fault>();
    this.#match(SPACE);
    if (!this.#eat('}')) {
      do {
        if (!this.#field(fields)) return this.#broken();
      } while (this.#eat(','));
      if (!this.#eat('}')) return this.#broken();
    }
    this.#match(SPACE);
    return this.#at === this.#text.length ? fields : this.#broken();
  }

  /** One `"name": value` with the space around it; false when it is broken. */
  #field(fields: Map<string, Scalar | Fault>): boolean {
    this.#match(SPACE);
    const name = this.#string();
    if (name === undefined) return false;
    this.#match(SPACE);
    if (!this.#eat(':')) return false;
    this.#match(SPACE);
    const value = this.#value(name);
    if (value === undefined) return false;
    fields.set(
      name,
      fields.has(name)
        ? { kind: 'fault', message: `The field ${shown(name)} is in the body twice. Send it once.` }
        : value,
    );
    this.#match(SPACE);
    return true;
  }

  #value(name: string): Scalar | Fault | undefined {
    const next = this.#text[this.#at];
    if (next === '{' || next === '[')
      return this.#skipNested()
        ? { kind: 'fault', message: `The field ${shown(name)} must not hold an object or an array.` }
        : undefined;
    const value = this.#scalar();
    if (value?.kind !== 'string' || !LONE_SURROGATE.test(value.text)) return value;
    return { kind: 'fault', message: `The field ${shown(name)} has half of a surrogate pair. Send whole characters.` };
  }

  /**
   * Goes to the end of an object or array; false when it has none. What it holds is refused anyway, so nothing else is
   * checked.
   */
  #skipNested(): boolean {
    let depth = 0;
    do {
      this.#match(NEITHER_STRING_NOR_BRACKET);
      if (this.#eat('{') || this.#eat('[')) depth += 1;
      else if (this.#eat('}') || this.#eat(']')) depth -= 1;
      else if (this.#string() === undefined) return false;
    } while (depth > 0);
    return true;
  }

  #scalar(): Scalar | undefined {
    const text = this.#string();
    if (text !== undefined) return { kind: 'string', text };
    const number = this.#match(NUMBER);
    if (number !== undefined) return { kind: 'number', text: number };
    const literal = this.#match(LITERAL);
    return literal === undefined ? undefined : { kind: 'literal', text: literal as 'true' | 'false' | 'null' };
  }

  /** A string's text; undefined when none begins here or it is broken. */
  #string(): string | undefined {
    const start = this.#at;
    if (!this.#eat('"')) return undefined;
    for (; this.#at < this.#text.length; this.#at += 1) {
      const char = this.#text[this.#at];
      if (char === '\\') this.#at += 1;
      else if (char === '"') {
        this.#at += 1;
        return decoded(this.#text.slice(start, this.#at));
      }
    }
    return undefined;
  }

  #eat(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #broken(): Refusal {
    return new Refusal(
      'invalid_body',
      `The body is not valid JSON (near character ${this.#at + 1}). Send a JSON object.`,
    );
  }
}

/** The escapes of one string, end to end in its quotes. */
function decoded(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}
