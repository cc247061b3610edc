import type { IncomingMessage } from 'node:http';
import { parse } from 'lossless-json';
import { quote } from '../keys/fields.js';
import type { Body } from '../keys/fields.js';
import { AdminRefusal } from './answer.js';

const BODY_BYTES = 65_536;
const BODY_DEPTH = 8;

/**
 * The request's body: one JSON object of at most 64 KiB, no field twice; `{}` for an empty one.
 * Rejects with AdminRefusal 400 or 413.
 */
export async function readBody(req: IncomingMessage): Promise<Body> {
  const bytes = await readBytes(req);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new AdminRefusal(400, 'invalid_body', 'The body is not UTF-8. Send one JSON object.');
  }
  if (text.trim() === '') return {};
  // The parser calls itself for each level: a body of brackets would use up the stack.
  if (depthOf(text) > BODY_DEPTH) throw new AdminRefusal(400, 'invalid_body', `The body is nested more than ${BODY_DEPTH} deep.`);
  const value = parseStrictly(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AdminRefusal(400, 'invalid_body', 'The body must be one JSON object, such as {"plan":"free","name":"My app"}.');
  }
  return value as Body;
}

async function readBytes(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_BYTES) throw new AdminRefusal(413, 'body_too_large', `The body is larger than ${BODY_BYTES} bytes.`, { Connection: 'close' });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parseStrictly(text: string): unknown {
  try {
    return parse(text, undefined, { parseNumber: Number, onDuplicateKey: refuseDuplicate });
  } catch (error) {
    if (error instanceof AdminRefusal) throw error;
    // The parser's own message may quote the body, and a body may hold a key.
    throw new AdminRefusal(400, 'invalid_body', 'The body is not valid JSON.');
  }
}

function refuseDuplicate({ key }: { readonly key: string }): never {
  throw new AdminRefusal(400, 'invalid_body', `The body has the field ${quote(key)} twice.`);
}

/** How deep brackets and braces nest, those inside strings not counted. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (inString && character === '\\') index += 1;
    else if (character === '"') inString = !inString;
    else if (!inString && (character === '{' || character === '[')) deepest = Math.max(deepest, (depth += 1));
    else if (!inString && (character === '}' || character === ']')) depth -= 1;
  }
  return deepest;
}
