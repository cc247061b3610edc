import { onlyValueOf } from '../edge/fields.js';
import type { Admitted } from '../exchange.js';
import { readForm, type Form } from '../pages/form.js';
import { isOwnOrigin } from '../pages/origin.js';
import { isRefusal, REFUSALS, type Refusal } from '../refusal.js';
import type { Way } from './way.js';

/** Enough for a key and a few short fields. */
const MAX_FORM_BYTES = 4_096;

/** Reads a form that one of our own pages sent; null if the client left. Rejects with InvalidForm. */
export async function readPosted(exchange: Admitted, way: Way): Promise<Form | Refusal | null> {
  const { client, contentLength, received, host } = exchange;
  if (way === 'open') return REFUSALS.insecure_connection;
  if (!isOwnOrigin(onlyValueOf(received, 'origin'), host, way === 'tls')) return REFUSALS.invalid_form;
  // By then, a body that was sent together with the head is complete, and needs no slot among the incomplete ones.
  await new Promise((resolve) => setImmediate(resolve));
  const noRoom = client.reserveBody(contentLength, MAX_FORM_BYTES);
  if (noRoom !== null) return noRoom;
  const body = await client.readBody(contentLength, MAX_FORM_BYTES);
  if (body === 'gone') return null;
  if (isRefusal(body)) return body;
  return readForm(onlyValueOf(received, 'content-type') ?? undefined, body.bytes);
}
