import { isUtf8 } from 'node:buffer';
import { Refusal, shown } from './refusal.js';

/** A field's value. A number is kept as the text that was sent, so that no digit is lost. */
export type Scalar =
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'literal'; readonly text: 'true' | 'false' | 'null' };

export interface Fault {
  readonly kind: 'fault';
  readonly message: string;
}

export const fault = (message: string): Fault => ({ kind: 'fault', message });

/** The tokens of valid JSON, each after optional whitespace: strings, numbers, literals, punctuation. */
const TOKEN = /[ \t\n\r]*("[^"\\]*(?:\\.[^"\\]*)*"|[-+.0-9eE]+|true|false|null|[{}[\]:,])/gy;

/**
 * Reads a JSON object (RFC 8259) whose fields hold no objects or arrays. Stricter than JSON.parse: refuses invalid
 * UTF-8 and a byte order mark, and returns a fault for a field sent twice or with a lone surrogate.
 */
export function readFlatObject(body: Uint8Array): ReadonlyMap<string, Scalar | Fault> | Refusal {
  if (!isUtf8(body)) return invalid('The body is not valid UTF-8. Send JSON in UTF-8.');
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  if (text.startsWith('\uFEFF')) return invalid('The body starts with a byte order mark. Send JSON without one.');
  const first = /[^ \t\n\r]/.exec(text)?.[0];
  if (first === undefined) return invalid('The body is empty. Send a JSON object with name and categoryId.');
  if (first !== '{') return invalid('The body must be a JSON object.');
  try {
    JSON.parse(text);
  } catch {
    return invalid('The body is not valid JSON. Send a JSON object.');
  }
  return fieldsIn(text);
}

/** @param text a valid JSON object */
function fieldsIn(text: string): ReadonlyMap<string, Scalar | Fault> {
  const fields = new Map<string, Scalar | Fault>();
  let [depth, name, isValue] = [0, '', false];
  for (const [, token = ''] of text.matchAll(TOKEN)) {
    if (depth === 1) {
      if (isValue) fields.set(name, fields.has(name) ? twice(name) : valueOf(name, token));
      else if (token.startsWith('"')) name = JSON.parse(token) as string;
      isValue = token === ':';
    }
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
  }
  return fields;
}

function valueOf(name: string, token: string): Scalar | Fault {
  if (token === '{' || token === '[') return fault(`The field ${shown(name)} must not be an object or an array.`);
  if (token === 'true' || token === 'false' || token === 'null') return { kind: 'literal', text: token };
  if (!token.startsWith('"')) return { kind: 'number', text: token };
  const text = JSON.parse(token) as string;
  return /\p{Surrogate}/u.test(text)
    ? fault(`The field ${shown(name)} has half of a surrogate pair. Send whole characters.`)
    : { kind: 'string', text };
}

function twice(name: string): Fault {
  return fault(`The field ${shown(name)} is in the body twice. Send it once.`);
}

function invalid(message: string): Refusal {
  return new Refusal('invalid_body', message);
}
