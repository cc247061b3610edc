import { copyFor } from '../admission/events/outbox.js';
import type { GatewayEvent } from '../admission/events/outbox.js';
import { signingKey } from '../admission/events/signing-key.js';
import type { CustomerStore } from '../admission/customers/record.js';
import type { Webhook } from '../admission/customers/webhook.js';
import type { Message } from './message.js';
import type { Outcome, Sender } from './send.js';

/** Senders to customers kept open; one that is needed again later is made anew. */
const MOST_SENDERS = 64;

interface ReceiversParts {
  /** To the operators' webhook. */
  readonly sender: Sender;
  /** What that is signed with. */
  readonly keys: readonly Buffer[];
  readonly customers: Pick<CustomerStore, 'webhook'>;
  readonly senderTo: (url: string) => Sender;
  readonly messageOf: (event: GatewayEvent, keys: readonly Buffer[]) => Message;
}

/** Who is told: the operators' webhook of everything, and that of a customer of what is about it and its keys. */
export class Receivers {
  readonly #parts: ReceiversParts;
  readonly #senders = new Map<string, Sender>();
  /** Attempts under way by customer. */
  readonly #underWay = new Map<string, number>();
  /** Customers whose webhook failed at the last attempt. */
  readonly #troubled = new Set<string>();

  constructor(parts: ReceiversParts) {
    this.#parts = parts;
  }

  /** The copy of an event for its customer; undefined where there is none to tell, or this is it. */
  async copyOf(event: GatewayEvent): Promise<GatewayEvent | undefined> {
    const { customer } = event.data;
    if (event.to !== undefined || customer === null) return undefined;
    return (await this.#parts.customers.webhook(customer)) && copyFor(event, customer);
  }

  async send(event: GatewayEvent): Promise<Outcome> {
    const { sender, keys, customers, messageOf } = this.#parts;
    const { to } = event;
    if (to === undefined) return sender.send(messageOf(event, keys));
    this.#underWay.set(to, (this.#underWay.get(to) ?? 0) + 1);
    try {
      const webhook = await customers.webhook(to);
      if (webhook === undefined) return { kind: 'unwanted' };
      const outcome = await this.#senderTo(webhook.url).send(messageOf(event, keysOf(webhook)));
      if (outcome.kind === 'delivered') this.#troubled.delete(to);
      else if (outcome.kind !== 'stopped') this.#troubled.add(to);
      return outcome;
    } finally {
      const left = this.#underWay.get(to)! - 1;
      if (left === 0) this.#underWay.delete(to);
      else this.#underWay.set(to, left);
    }
  }

  /** Whether the event has to wait for another attempt: a webhook that fails is tried with one event at a time. */
  isBusy({ to }: GatewayEvent): boolean {
    return to !== undefined && this.#troubled.has(to) && this.#underWay.has(to);
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    await Promise.all([this.#parts.sender, ...this.#senders.values()].map((sender) => sender.close()));
  }

  #senderTo(url: string): Sender {
    const known = this.#senders.get(url);
    if (known !== undefined) return known;
    const [oldest] = this.#senders;
    if (oldest !== undefined && this.#senders.size >= MOST_SENDERS) {
      this.#senders.delete(oldest[0]);
      // What it is sending has failed then, and is tried again.
      void oldest[1].close();
    }
    const sender = this.#parts.senderTo(url);
    this.#senders.set(url, sender);
    return sender;
  }
}

/** What events to a customer are signed with now. */
function keysOf({ secrets }: Webhook): readonly Buffer[] {
  const good = secrets.filter(({ endsAtMs }) => endsAtMs === null || endsAtMs > Date.now());
  return good.map(({ secret }) => signingKey(secret)).filter((key) => key !== undefined);
}
