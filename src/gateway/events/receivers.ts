import { copyFor, type GatewayEvent } from '../store/outbox/event.js';
import { signingKey } from '../accounts/customers/signing-key.js';
import type { CustomerStore } from '../store/records/customer.js';
import type { Webhook } from '../store/records/webhook.js';
import type { Message } from './message.js';
import type { Outcome, Sender } from './send.js';

interface ReceiversParts {
  /** The operators' webhook, how it is reached, and what it is signed with. */
  readonly url: string;
  readonly sender: Sender;
  readonly keys: readonly Buffer[];
  readonly customers: Pick<CustomerStore, 'webhook'>;
  /** How those of customers are reached. */
  readonly customerSender: Sender;
  readonly messageOf: (event: GatewayEvent, keys: readonly Buffer[]) => Message;
}

/** Who receives what: the operator's webhook everything, a customer's what is about it and its keys. */
export class Receivers {
  readonly #parts: ReceiversParts;

  constructor(parts: ReceiversParts) {
    this.#parts = parts;
  }

  /** The copy of an event for its customer; undefined where it has no webhook, or this is the copy. */
  async copyOf(event: GatewayEvent): Promise<GatewayEvent | undefined> {
    const { customer } = event.data;
    if (event.to !== undefined || customer === null) return undefined;
    return (await this.#parts.customers.webhook(customer)) && copyFor(event, customer);
  }

  async send(event: GatewayEvent): Promise<Outcome> {
    const { url, sender, keys, customers, customerSender, messageOf } = this.#parts;
    if (event.to === undefined) return sender.send(url, messageOf(event, keys));
    const webhook = await customers.webhook(event.to);
    if (webhook === undefined) return { kind: 'unwanted' };
    return customerSender.send(webhook.url, messageOf(event, keysOf(webhook)));
  }

  async close(): Promise<void> {
    await Promise.all([this.#parts.sender.close(), this.#parts.customerSender.close()]);
  }
}

/** What events to a customer are signed with now. */
function keysOf({ secrets }: Webhook): readonly Buffer[] {
  const valid = secrets.filter(({ endsAtMs }) => endsAtMs === null || endsAtMs > Date.now());
  return valid.map(({ secret }) => signingKey(secret)).filter((key) => key !== undefined);
}
