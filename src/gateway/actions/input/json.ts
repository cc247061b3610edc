import { isMapping } from '../../../shared/mapping.js';
import { quote, type Body } from '../../accounts/fields.js';
import { AdminRefusal } from '../answer.js';

/** The message continues "The body" or "line 5:", and never repeats the input. */
export class NotAnObject extends Error {
  override readonly name = 'NotAnObject';
}

/** Parses a body of one JSON object without repeated fields; `{}` if empty. Throws AdminRefusal 400. */
export function readBody(bytes: unknown): Body {
  try {
    return (bytes instanceof Buffer ? parseObject(bytes) : undefined) ?? {};
  } catch (error) {
    if (error instanceof NotAnObject) throw new AdminRefusal(400, 'invalid_body', `The body ${error.message}.`);
    throw error;
  }
}

/** Parses one JSON object without repeated fields; undefined if there is only whitespace. Throws NotAnObject. */
export function parseObject(bytes: Buffer): Body | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new NotAnObject('is not UTF-8');
  }
  if (text.trim() === '') return undefined;
  const value = parseStrictly(text);
  if (isMapping(value)) return value;
  throw new NotAnObject('must be one JSON object, such as {"plan":"free","name":"My app"}');
}

function parseStrictly(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the body, which may contain a key.
    throw new NotAnObject('is not valid JSON');
  }
  const repeated = repeatedField(text);
  if (repeated !== undefined) throw new NotAnObject(`has the field ${quote(repeated)} twice`);
  return value;
}

/** Returns a field that occurs twice in one object of `text`, which is valid JSON: its meaning would be ambiguous. */
function repeatedField(text: string): string | undefined {
  const open: Set<string>[] = [];
  let lastString = '""';
  for (const [, token = ''] of text.matchAll(/[^"{}:]*("(?:[^"\\]|\\.)*"|[{}:])/gy)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (token !== ':') lastString = token;
    else {
      // Unescaped, because "\u0061" and "a" are the same name.
      const field = String(JSON.parse(lastString));
      if (open.at(-1)?.has(field) === true) return field;
      open.at(-1)?.add(field);
    }
  }
  return undefined;
}
