import { METHODS } from '../document/operations.js';
import { isMapping, pointerName, type Mapping } from '../document/references.js';
import { tagsIn } from './group.js';

/** A member of the served document, such as `paths`, `/pets`, `get`: at most `DEPTH` names deep. */
export interface Part {
  readonly at: readonly string[];
  /** Where `"get":{…}` is in the document, in bytes. */
  readonly start: number;
  readonly end: number;
  /** Indexes of the parts that it refers to. */
  readonly refersTo: readonly number[];
  /** Tags of an operation; null for all other parts. */
  readonly tags: readonly string[] | null;
}
const DEPTH = 3;

/** The document as JSON in UTF-8, and where its parts are. */
export interface Written {
  readonly document: Buffer;
  readonly parts: readonly Part[];
}

/** A string that may refer to a part. Excludes `operationRef`: an operation does not need those that it links to. */
const POINTER = /(?<!"operationRef":)"#(\/(?:[^"\\]|\\.)+)"/y;

/** Writes a document member by member, so that any part of it can be cut out of its bytes later. */
export class DocumentWriter {
  readonly #textOf: (name: string, value: unknown) => string;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  readonly #parts: (Omit<Part, 'refersTo'> & { readonly pointers: readonly string[] })[] = [];

  /** @param textOf returns the member as JSON, `"name":value`; empty: it is left out */
  constructor(textOf: (name: string, value: unknown) => string) {
    this.#textOf = textOf;
  }

  write(document: Mapping): Written {
    this.#members(document, []);
    const indexOf = indexBy(this.#parts);
    const parts = this.#parts.map(({ pointers, ...part }) => ({ ...part, refersTo: pointers.flatMap(indexOf) }));
    return { document: Buffer.concat(this.#chunks), parts };
  }

  #members(holder: Mapping, holders: readonly string[]): void {
    let before = '{';
    for (const [name, value] of Object.entries(holder)) {
      const at = [...holders, name];
      if (at.length < DEPTH && isMapping(value)) {
        this.#put(`${before}${JSON.stringify(name)}:`);
        this.#members(value, at);
      } else {
        const text = this.#textOf(name, value);
        if (text === '') continue;
        this.#put(before);
        this.#part(at, value, text);
      }
      before = ',';
    }
    this.#put(before === '{' ? '{}' : '}');
  }

  #part(at: readonly string[], value: unknown, text: string): void {
    const start = this.#bytes;
    this.#put(text);
    const pointers = new Set(pointersIn(text));
    this.#parts.push({
      at,
      start,
      end: this.#bytes,
      tags: isOperation(at) && isMapping(value) ? tagsIn(value) : null,
      pointers: [...pointers],
    });
  }

  #put(text: string): void {
    const chunk = Buffer.from(text);
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }
}

function* pointersIn(text: string): Generator<string> {
  for (let at = text.indexOf('"#/'); at !== -1; at = text.indexOf('"#/', at)) {
    POINTER.lastIndex = at;
    const pointer = POINTER.exec(text)?.[1];
    if (pointer !== undefined) yield pointer;
    at += 1 + (pointer?.length ?? 0);
  }
}

function isOperation([top, , method]: readonly string[]): boolean {
  return top === 'paths' && METHODS.some((each) => each === method);
}

/** Indexes parts by pointers, as written in JSON: a pointer leads to one part, all parts of a holder, or none. */
function indexBy(parts: readonly Pick<Part, 'at'>[]): (pointer: string) => readonly number[] {
  const known = new Map<string, number[]>();
  parts.forEach(({ at }, index) => {
    for (let depth = Math.min(2, at.length); depth <= at.length; depth += 1) {
      const key = JSON.stringify(at.slice(0, depth));
      const indexes = known.get(key);
      if (indexes === undefined) known.set(key, [index]);
      else indexes.push(index);
    }
  });
  return (pointer) => {
    const names = (JSON.parse(`"${pointer}"`) as string).slice(1).split('/').map(pointerName);
    return known.get(JSON.stringify(names.slice(0, DEPTH))) ?? [];
  };
}
