import type { IncomingMessage } from 'node:http';
import { quote } from '../keys/fields.js';
import type { Body } from '../keys/fields.js';
import { AdminRefusal } from './answer.js';

const BODY_BYTES = 65_536;

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
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the body, and a body may hold a key.
    throw new AdminRefusal(400, 'invalid_body', 'The body is not valid JSON.');
  }
  const repeated = repeatedField(text);
  if (repeated !== undefined) throw new AdminRefusal(400, 'invalid_body', `The body has the field ${quote(repeated)} twice.`);
  return value;
}

/** A field that `text`, which is valid JSON, names twice in one object: which of the two was meant, nobody knows. */
function repeatedField(text: string): string | undefined {
  const open: Set<string>[] = [];
  let lastString = '""';
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}:]/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (token !== ':') lastString = token;
    else {
      // Unescaped, because "\u0061" and "a" are one name.
      const field = String(JSON.parse(lastString));
      if (open.at(-1)?.has(field) === true) return field;
      open.at(-1)?.add(field);
    }
  }
  return undefined;
}
