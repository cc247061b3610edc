import { isUtf8 } from 'node:buffer';
import { Refusal, shown } from './refusal.js';

/** A field's value; a number stays the text it was sent as, so that no digit is lost. */
export type Scalar =
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'literal'; readonly text: 'true' | 'false' | 'null' };

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERAL = /true|false|null/y;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Reads a JSON object (RFC 8259) whose fields hold no objects or arrays. Stricter than JSON.parse:
 * a field sent twice, broken UTF-8, a byte order mark and lone surrogates are refused. As it never
 * goes into nested values it needs no stack, however deep the body is.
 */
export function readFlatObject(body: Uint8Array): ReadonlyMap<string, Scalar> | Refusal {
  if (!isUtf8(body)) return new Refusal('invalid_body', 'The body is not valid UTF-8. Send JSON in UTF-8.');
  return new FlatReader(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')).read();
}

class FlatReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): ReadonlyMap<string, Scalar> | Refusal {
    if (this.#text.startsWith('\uFEFF')) return new Refusal('invalid_body', 'The body begins with a byte order mark. Send JSON without it.');
    this.#match(SPACE);
    if (this.#at === this.#text.length) return new Refusal('invalid_body', 'The body is empty. Send a JSON object with name and categoryId.');
    if (!this.#eat('{')) return new Refusal('invalid_body', 'The body must be a JSON object.');
    const fields = new Map<string, Scalar>();
    this.#match(SPACE);
    if (!this.#eat('}')) {
      do {
        const refusal = this.#field(fields);
        if (refusal !== undefined) return refusal;
      } while (this.#eat(','));
      if (!this.#eat('}')) return this.#broken();
    }
    this.#match(SPACE);
    return this.#at === this.#text.length ? fields : this.#broken();
  }

  /** One `"name": value` with the space around it. */
  #field(fields: Map<string, Scalar>): Refusal | undefined {
    this.#match(SPACE);
    const name = this.#string();
    if (name === undefined) return this.#broken();
    if (fields.has(name)) return new Refusal('invalid_body', `The field ${shown(name)} stands in the body twice. Send it once.`);
    this.#match(SPACE);
    if (!this.#eat(':')) return this.#broken();
    this.#match(SPACE);
    const next = this.#text[this.#at];
    if (next === '{' || next === '[') return new Refusal('invalid_body', `The field ${shown(name)} must not hold an object or an array.`);
    const value = this.#scalar();
    if (value === undefined) return this.#broken();
    if (LONE_SURROGATE.test(name) || (value.kind === 'string' && LONE_SURROGATE.test(value.text))) {
      return new Refusal('invalid_body', `The field ${shown(name)} has half of a surrogate pair. Send whole characters.`);
    }
    fields.set(name, value);
    this.#match(SPACE);
    return undefined;
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
    return new Refusal('invalid_body', `The body is not valid JSON (near character ${this.#at + 1}). Send a JSON object.`);
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
