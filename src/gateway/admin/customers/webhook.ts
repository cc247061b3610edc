import type { Webhook } from '../../store/records/webhook.js';
import type { Answer } from '../answer.js';
import { overlapMsOf } from '../keys.js';
import type { Call, Route } from '../route.js';

/** Where a customer is told of its keys, beside the operators' webhook. */
export const CUSTOMER_WEBHOOK_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/admin/v1/customers/{id}/webhook',
    summary: 'The webhook of a customer; no more of its address than the host',
    role: 'read',
    gives: [200, 'Webhook'],
    handle: show,
  },
  {
    method: 'PUT',
    path: '/admin/v1/customers/{id}/webhook',
    summary: "Sets the address of a customer's webhook; the first gets a secret",
    role: 'keys',
    takes: 'NewWebhook',
    gives: [200, 'IssuedWebhook'],
    handle: set,
  },
  {
    method: 'POST',
    path: '/admin/v1/customers/{id}/webhook/rotate',
    summary: "Gives a customer's webhook a new secret; the old one signs too for the overlap",
    role: 'keys',
    takes: 'Rotation',
    gives: [200, 'IssuedWebhook'],
    handle: rotate,
  },
  {
    method: 'DELETE',
    path: '/admin/v1/customers/{id}/webhook',
    summary: "Removes a customer's webhook, and what waits for it",
    role: 'keys',
    gives: [204],
    handle: remove,
  },
];

async function show({ parts, id }: Call): Promise<Answer> {
  return { json: viewOf(await parts.registry.webhooks.get(id)) };
}

async function set({ parts, id, body, actor }: Call): Promise<Answer> {
  const { webhook, secret } = await parts.registry.webhooks.set(id, body, actor);
  return { json: { ...viewOf(webhook), secret } };
}

async function rotate({ parts, id, body, actor }: Call): Promise<Answer> {
  const { webhook, secret } = await parts.registry.webhooks.rotate(id, overlapMsOf(body), actor);
  return { json: { ...viewOf(webhook), secret } };
}

async function remove({ parts, id, actor }: Call): Promise<undefined> {
  await parts.registry.webhooks.remove(id, actor);
}

/** Path and query of the address may hold a secret of the receiver's. */
function viewOf({ url, secrets }: Webhook): object {
  const { origin } = new URL(url);
  const ends = secrets.map(({ endsAtMs }) => ({ ends: endsAtMs === null ? null : new Date(endsAtMs).toISOString() }));
  return { receiver: origin, secrets: ends };
}
