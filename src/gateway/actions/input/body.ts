import type { Body } from '../../accounts/fields.js';
import { AdminRefusal } from '../answer.js';
import { NotAnObject, parseObject } from './json.js';

/** Parses a body of one JSON object without repeated fields; `{}` if empty. Throws AdminRefusal 400. */
export function readBody(bytes: unknown): Body {
  try {
    return (bytes instanceof Buffer ? parseObject(bytes) : undefined) ?? {};
  } catch (error) {
    if (error instanceof NotAnObject) throw new AdminRefusal(400, 'invalid_body', `The body ${error.message}.`);
    throw error;
  }
}
