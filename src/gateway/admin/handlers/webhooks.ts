import { required } from '../../accounts/fields.js';
import type { Webhook as StoredWebhook } from '../../store/records/webhook.js';
import { IssuedWebhook, NewWebhook, Rotation, Webhook } from '../openapi/schemas.js';
import { route, type Route } from '../route.js';
import { secretsView } from './views.js';

const WEBHOOK = '/admin/v1/customers/{id}/webhook';

export const WEBHOOK_ROUTES: readonly Route[] = [
  route(`GET ${WEBHOOK}`, 'read', 'The webhook of a customer; of its address the host alone', {
    gives: Webhook,
    handle: async ({ parts, id }) => ({ json: viewOf(await parts.registry.webhooks.get(id)) }),
  }),
  route(`PUT ${WEBHOOK}`, 'keys', 'Sets the address of its webhook; the first gets a secret', {
    takes: NewWebhook,
    gives: IssuedWebhook,
    handle: async ({ parts, id, body, actor }) => {
      const { webhook, secret } = await parts.registry.webhooks.set(id, body, actor);
      return { json: { ...viewOf(webhook), secret } };
    },
  }),
  route(`POST ${WEBHOOK}/rotate`, 'keys', 'A new secret; the old one signs too for a while', {
    takes: Rotation,
    gives: IssuedWebhook,
    handle: async ({ parts, id, body, actor }) => {
      const { overlap } = required(body, Rotation.shape);
      const { webhook, secret } = await parts.registry.webhooks.rotate(id, overlap, actor);
      return { json: { ...viewOf(webhook), secret } };
    },
  }),
  route(`DELETE ${WEBHOOK}`, 'keys', 'Removes its webhook, and what waits for it', {
    handle: ({ parts, id, actor }) => parts.registry.webhooks.remove(id, actor),
  }),
];

/** Path and query of the address may hold a secret of the receiver's. */
function viewOf({ url, secrets }: StoredWebhook): object {
  return { receiver: new URL(url).origin, secrets: secretsView(secrets) };
}
