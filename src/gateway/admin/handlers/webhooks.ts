import { isoOrNull } from '../../accounts/edits.js';
import { required } from '../../accounts/fields.js';
import type { Webhook as StoredWebhook } from '../../store/records/webhook.js';
import { rotation } from '../input/bodies.js';
import { IssuedWebhook, NewWebhook, Rotation, Webhook } from '../openapi/schemas.js';
import { handler } from '../route.js';

export const show = handler({
  gives: Webhook,
  handle: async ({ parts, id }) => ({ json: viewOf(await parts.registry.webhooks.get(id)) }),
});

export const set = handler({
  takes: NewWebhook,
  gives: IssuedWebhook,
  handle: async ({ parts, id, body, actor }) => {
    const { webhook, secret } = await parts.registry.webhooks.set(id, body, actor);
    return { json: { ...viewOf(webhook), secret } };
  },
});

export const rotate = handler({
  takes: Rotation,
  gives: IssuedWebhook,
  handle: async ({ parts, id, body, actor }) => {
    const { overlap } = required(body, rotation);
    const { webhook, secret } = await parts.registry.webhooks.rotate(id, overlap, actor);
    return { json: { ...viewOf(webhook), secret } };
  },
});

export const remove = handler({
  handle: ({ parts, id, actor }) => parts.registry.webhooks.remove(id, actor),
});

/** Path and query of the address may hold a secret of the receiver's. */
function viewOf({ url, secrets }: StoredWebhook): object {
  return { receiver: new URL(url).origin, secrets: secrets.map(({ endsAtMs }) => ({ ends: isoOrNull(endsAtMs) })) };
}
