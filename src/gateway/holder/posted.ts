import { onlyValueOf } from '../edge/fields.js';
import type { Admitted } from '../exchange.js';
import { InvalidForm, readForm, type Form } from '../pages/form.js';
import { isRefusal, REFUSALS, withMessage, type Refusal } from '../refusal.js';

/** Enough for a key and a few short fields. */
const MAX_FORM_BYTES = 4_096;

/** Reads the submitted form; null if the client left. */
export async function readPosted({ client, contentLength, received }: Admitted): Promise<Form | Refusal | null> {
  // By then, a body that was sent together with the head is complete, and needs no slot among the incomplete ones.
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

/** Throws InvalidForm if one of our fields occurs more than once. */
function checkedOnce(form: Form): Form {
  for (const name of ['key', 'form', 'overlap']) form.text(name);
  return form;
}
