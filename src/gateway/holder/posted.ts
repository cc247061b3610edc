import { onlyValueOf } from '../edge/fields.js';
import type { Admitted } from '../exchange.js';
import { InvalidForm, readForm, type Form } from '../pages/form.js';
import { isRefusal, REFUSALS, withMessage, type Refusal } from '../refusal.js';

/** A key, a few words and what else a form holds. */
const MAX_FORM_BYTES = 4_096;

/** The form that was sent; null where its sender left. */
export async function readPosted({ client, contentLength, received }: Admitted): Promise<Form | Refusal | null> {
  // What came with the head is whole by then, and takes no place of those that are on their way.
  await new Promise((resolve) => setImmediate(resolve));
  const noRoom = client.reserveBody(contentLength, MAX_FORM_BYTES);
  if (noRoom !== null) return noRoom;
  const body = await client.readBody(contentLength, MAX_FORM_BYTES);
  if (body === 'gone') return null;
  if (isRefusal(body)) return body;
  try {
    return checkedOnce(readForm(onlyValueOf(received, 'content-type') ?? undefined, body.bytes));
  } catch (error) {
    if (error instanceof InvalidForm) return withMessage(REFUSALS.invalid_form, error.message);
    throw error;
  }
}

/** Each of our fields once, or left out. */
function checkedOnce(form: Form): Form {
  for (const name of ['key', 'form', 'overlap']) form.text(name);
  return form;
}
