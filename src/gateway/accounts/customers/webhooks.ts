import { z } from 'zod';
import { newSigningSecret } from './signing-key.js';
import type { Webhook } from '../../store/records/webhook.js';
import { ChangeUncertain } from '../../store/port.js';
import { WEBHOOK_FORM, webhookProblem } from '../../config/schema/events.js';
import type { CustomerRegistry } from './registry.js';
import { checked, orMissing, required, type Body } from '../fields.js';
import { KeyRefused } from '../refused.js';
import { checkOverlap, retire } from '../rotation.js';

/** `secret` is shown this once and then nowhere; null where it stays what it was. */
interface IssuedWebhook {
  readonly webhook: Webhook;
  readonly secret: string | null;
}

/** The body that sets a webhook. */
export const newWebhook = (networks: readonly string[]) => ({
  url: checked(z.string({ error: orMissing(WEBHOOK_FORM) }), (given) => webhookProblem(given, networks)),
});

const UNSEEN = 'The new secret is not shown: rotate once more.';

/** The webhooks of customers. Each change lands in the customer's history, without address and secret. */
export class WebhookRegistry {
  readonly #customers: CustomerRegistry;
  /** null: no events to anybody. */
  readonly #events: { readonly customerNetworks: readonly string[] } | null;

  constructor(customers: CustomerRegistry, events: { readonly customerNetworks: readonly string[] } | null) {
    this.#customers = customers;
    this.#events = events;
  }

  async get(id: string): Promise<Webhook> {
    return (await this.#customers.webhook(id)) ?? refuseNone();
  }

  /** Sets the address. The first gets a secret; another keeps what there is. @param body `{url}` */
  async set(id: string, body: Body, actor: string): Promise<IssuedWebhook> {
    const url = this.#urlIn(body);
    return this.#issue(id, actor, (before) => {
      if (before?.url === url) return null;
      const secrets = before?.secrets ?? [{ secret: newSigningSecret(), endsAtMs: null }];
      return { webhook: { url, secrets }, changed: { webhook: before === undefined ? 'set' : 'moved' } };
    });
  }

  /** Gives it a new secret; events are signed with the old one too for `overlapMs`. */
  async rotate(id: string, overlapMs: number, actor: string): Promise<IssuedWebhook> {
    checkOverlap(overlapMs);
    return this.#issue(id, actor, (before, nowMs) => {
      const { url, secrets } = before ?? refuseNone();
      const { old, changed } = retire(secrets, nowMs, overlapMs);
      const webhook = { url, secrets: [{ secret: newSigningSecret(), endsAtMs: null }, ...old] };
      return { webhook, changed: { webhook: 'rotated', ...changed } };
    });
  }

  /** What waits for it is not sent any more. */
  async remove(id: string, actor: string): Promise<void> {
    await this.#customers.editWebhook(id, actor, (before) => {
      if (before === undefined) refuseNone();
      return { webhook: null, changed: { webhook: 'removed' } };
    });
  }

  async #issue(
    id: string,
    actor: string,
    edit: (before: Webhook | undefined, nowMs: number) => { webhook: Webhook; changed: Record<string, unknown> } | null,
  ): Promise<IssuedWebhook> {
    const issued: { webhook?: Webhook; secret: string | null } = { secret: null };
    const attempt = (before: Webhook | undefined, nowMs: number): ReturnType<typeof edit> => {
      const edited = edit(before, nowMs);
      const [newest] = edited?.webhook.secrets ?? [];
      const isNew = newest !== undefined && newest.secret !== before?.secrets[0]?.secret;
      Object.assign(issued, { webhook: edited?.webhook ?? before, secret: isNew ? newest.secret : null });
      return edited;
    };
    await this.#customers.editWebhook(id, actor, attempt).catch((error: unknown) => {
      throw error instanceof ChangeUncertain && issued.secret !== null
        ? new ChangeUncertain(`${error.message} ${UNSEEN}`)
        : error;
    });
    return { webhook: issued.webhook ?? refuseNone(), secret: issued.secret };
  }

  #urlIn(body: Body): string {
    if (this.#events === null)
      throw new KeyRefused('conflict', [
        'events are off: set PETGATE_EVENTS_URL and PETGATE_EVENTS_SECRET, and start the gateways again',
      ]);
    return required(body, newWebhook(this.#events.customerNetworks)).url;
  }
}

function refuseNone(): never {
  throw new KeyRefused('no_webhook', ['the customer has no webhook; petgate customers webhook set makes one']);
}
